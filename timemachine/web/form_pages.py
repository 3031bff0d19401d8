"""The pages with the forms of URLs that only accept POST; opening such a URL redirects to the page with its form."""

from typing import Final

from django.http import HttpRequest
from django.urls import reverse

_FORMS: Final = {
    "prepare_forgetting": ("retention", "together"),
    "make_pattern_rule": ("patterns", "rules"),
    "settings_you": ("settings", "you"),
    "settings_password": ("settings", "you"),
    "settings_project": ("settings", "project"),
    "settings_new_project": ("settings", "project"),
    "settings_invite": ("settings", "members"),
    "settings_make_key": ("settings", "keys"),
    "compression_rule": ("settings", "compression"),
    "set_evidence_anchors": ("settings", "evidence-key"),
    "settings_test_model": ("settings_models", ""),
    "settings_set_provider_key": ("settings_models", "keys"),
    "settings_add_model_server": ("settings_models", "servers"),
}
_FORMS_OF_ONE: Final = {
    "confirm_forgetting": ("forgetting", ""),
    "release_hold": ("hold", ""),
    "confirm_erasure": ("erasure", ""),
    "summarise": ("significance", "summary"),
    "compress_session": ("significance", "compression"),
}


def form_page_of(request: HttpRequest) -> str | None:
    """Return the URL of the page with the form that is submitted here, or None if unknown."""
    match = request.resolver_match
    name = match.url_name if match else None
    if match is None or name is None:
        return None
    if name in _FORMS_OF_ONE:
        page, part = _FORMS_OF_ONE[name]
        return _with_part(reverse(page, kwargs=match.kwargs), part)
    if name in _FORMS:
        page, part = _FORMS[name]
        return _with_part(reverse(page), part)
    return None


def _with_part(address: str, part: str) -> str:
    return f"{address}#{part}" if part else address
