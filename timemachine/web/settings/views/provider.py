"""Sign in with the organisation's OpenID Connect provider."""

import logging
from dataclasses import asdict
from datetime import timedelta
from secrets import compare_digest
from typing import Any, Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from timemachine.core.accounts.commands.browsers import delete_ended_sessions
from timemachine.core.accounts.provider import commands, protocol
from timemachine.core.accounts.provider.protocol import Attempt, refused
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotAllowed, NotSignedIn, Unavailable
from timemachine.web.errors import page_message
from timemachine.web.http import back_to
from timemachine.web.settings import signing_in
from timemachine.web.settings.views.sign_in import sign_in_page

log = logging.getLogger(__name__)
_STORED_AS: Final = "provider_attempt"
_ANSWERED_WITHIN: Final = timedelta(minutes=30)


@never_cache
@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider."""
    _check_configured()
    attempt, again = protocol.new_attempt(), "again" in request.GET
    try:
        address = protocol.authorization_url(attempt, redirect_uri=_redirect_uri(), again=again)
    except Unavailable as why:
        return _refused(request, why, back_to(request))
    delete_ended_sessions()
    request.session[_STORED_AS] = {
        "attempt": asdict(attempt),
        "following": back_to(request),
        "at": now().timestamp(),
    }
    return HttpResponseRedirect(address)


@sensitive_variables("attempt", "claims")
@never_cache
@require_safe
def end(request: HttpRequest) -> HttpResponse:
    """Sign in the person whom the provider sends back. Each attempt can be answered once."""
    _check_configured()
    stored = request.session.pop(_STORED_AS, None) or {}
    following = stored.get("following", "/")
    try:
        attempt = _answered(request, stored)
        claims = protocol.claims_of(request.GET.get("code", ""), attempt, redirect_uri=_redirect_uri())
        user = commands.person_of(claims)
    except (NotSignedIn, NotAllowed, Unavailable) as why:
        return _refused(request, why, following)
    return signing_in.begin(
        request,
        user,
        following=following,
        proved_at=_number(claims.get("auth_time")),
        second_factor="mfa" in (claims.get("amr") or ()),
    )


def _answered(request: HttpRequest, stored: dict[str, Any]) -> Attempt:
    state = request.GET.get("state", "").encode()
    is_recent = bool(stored) and now().timestamp() - stored["at"] < _ANSWERED_WITHIN.total_seconds()
    if not is_recent or not compare_digest(stored["attempt"]["state"].encode(), state):
        raise refused("this browser did not ask for it, or took too long")
    if "error" in request.GET:
        raise refused(f"it answered {request.GET['error'][:100]}")
    if request.GET.get("iss", protocol.provider().issuer) != protocol.provider().issuer:
        raise refused("the answer comes from another provider")
    return Attempt(**stored["attempt"])


def _refused(
    request: HttpRequest, why: NotSignedIn | NotAllowed | Unavailable, following: str
) -> HttpResponse:
    log.warning("sign-in with the provider failed: %s", why.facts.get("reason", why.message))
    return sign_in_page(request, status=why.status, note=page_message(why), following=following)


def _check_configured() -> None:
    if not protocol.is_configured():
        raise Http404


def _redirect_uri() -> str:
    return f"{settings.PUBLIC_URL}{reverse('provider_answer')}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
