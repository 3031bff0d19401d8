"""Create and revoke API keys of the project."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import keys
from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import InvalidInput
from timemachine.web import access
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.accounts import KeyForm
from timemachine.web.settings.views.settings import page
from timemachine.web.shown_once import ShownOnce, hand_over


@never_cache
@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Create a key; the next page shows it once."""
    who = access.of(request)
    who.require(ADMIN)
    form = KeyForm(request.POST)
    if not form.is_valid():
        return page(request, who, status=422, key_form=form)
    said = form.cleaned_data
    try:
        key, text = keys.make_api_key(
            who.project, name=said["name"], scopes=said["scopes"], expires_at=form.expires_at(), by=who.user
        )
    except InvalidInput as why:
        form.add_error("name", why.message)
        return page(request, who, status=why.status, key_form=form)
    shown = ShownOnce(kind="key", subject=key.name, text=text)
    return hand_over(see_other("settings", part="keys"), who.user, shown)


@never_cache
@require_POST
def revoke(request: HttpRequest, key_id: str) -> HttpResponse:
    """Revoke a key."""
    who = access.of(request)
    who.require(ADMIN)
    key = queries.key(who.project, key_id)
    keys.revoke_api_key(key)
    messages.success(request, f"Key {key.name} revoked.")
    return see_other("settings", part="keys")
