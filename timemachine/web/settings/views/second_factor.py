"""Set up the second factor: authenticator apps, passkeys, recovery codes."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final

import segno
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts.commands.browsers import sign_out_browsers
from timemachine.core.accounts.models import User
from timemachine.core.accounts.queries import memberships_of
from timemachine.core.accounts.second_factor import apps, commands, passkeys
from timemachine.core.accounts.second_factor.queries import factors_of, has_second_factor, passkeys_of
from timemachine.core.pure.errors import NotSignedIn
from timemachine.web import shown_once
from timemachine.web.access import note_second_factor, showed_second_factor, signed_in
from timemachine.web.form_parts import RecordForm
from timemachine.web.http import page, see_other
from timemachine.web.settings.forms.second_factor import AppForm, PasskeyForm
from timemachine.web.settings.signing_in import signed_in_recently, site_of
from timemachine.web.shown_once import ShownOnce, hand_over

_STATE: Final = "new_passkey"
_SECRET: Final = "new_app"  # noqa: S105  # the name of a place

type _View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponse]
type _PersonView[**P] = Callable[Concatenate[HttpRequest, User, P], HttpResponse]


def _recent[**P](*methods: str) -> Callable[[_PersonView[P]], _View[P]]:
    """Decorate a view for people who signed in recently, with or without a project; it gets the person."""

    def decorate(view: _PersonView[P]) -> _View[P]:
        @never_cache
        @require_http_methods(methods)
        @wraps(view)
        def visit(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            user = signed_in(request)
            if not signed_in_recently(request):
                raise NotSignedIn("Sign in again to change how you sign in.", code="sign_in_again")
            return view(request, user, *args, **kwargs)

        return visit

    return decorate


@_recent("GET", "HEAD")
def second_factor(request: HttpRequest, user: User) -> HttpResponse:
    """Show the person's second factors, and new recovery codes once."""
    return _page(request, user)


@_recent("GET", "HEAD", "POST")
def add_app(request: HttpRequest, user: User) -> HttpResponse:
    """Show the QR code for an authenticator app, and add the app once it shows the right code."""
    secret = request.session.setdefault(_SECRET, apps.new_secret())
    form = AppForm(request.POST if request.method == "POST" else None)
    made = form.run(
        lambda: commands.add_app(
            user, name=form.cleaned_data["name"], secret=secret, code=form.cleaned_data["code"]
        )
    )
    if made is None:
        shown = {"form": form, "secret": secret, "qr_code": _qr_code(apps.app_address(secret, user))}
        return page(request, "accounts/second_factor_app.html", shown, status=form.http_status)
    request.session.pop(_SECRET)
    return _added(request, user, made.name)


@sensitive_post_parameters("response")
@_recent("POST")
def add_passkey(request: HttpRequest, user: User) -> HttpResponse:
    """Add the passkey that the browser made."""
    form = PasskeyForm(request.POST)
    state = request.session.pop(_STATE, {})
    made = form.run(
        lambda: commands.add_passkey(user, site=site_of(request), state=state, **form.cleaned_data)
    )
    return _page(request, user, form) if made is None else _added(request, user, made.name)


@_recent("POST")
def remove_factor(request: HttpRequest, user: User, factor_id: int) -> HttpResponse:
    """Remove one second factor. Without any, other browsers must sign in again."""
    removed = commands.remove_factor(user, factor_id)
    if not has_second_factor(user):
        note_second_factor(request, shown=False)
        sign_out_browsers(user, but=request.session.session_key)
    messages.success(request, f"{removed.name} removed.")
    return see_other("second_factor")


@_recent("POST")
def new_codes(request: HttpRequest, user: User) -> HttpResponse:  # noqa: ARG001
    """Replace the recovery codes; the next page shows them once."""
    return _with_new_codes(user) if has_second_factor(user) else see_other("second_factor")


def _page(request: HttpRequest, user: User, form: RecordForm | None = None) -> HttpResponse:
    site, shown = site_of(request), shown_once.taken(request, user)
    needing = [one.project for one in memberships_of(user) if one.project.needs_second_factor]
    facts: dict[str, object] = {
        "factors": factors_of(user),
        "codes_left": user.recovery_codes.count(),
        "needing": needing,
        "is_in": showed_second_factor(request),
        "others": [one for one in memberships_of(user) if not one.project.needs_second_factor],
        "passkey_form": form or PasskeyForm(),
    }
    if site.can_have_passkeys:
        options, request.session[_STATE] = passkeys.begin_registration(site, user, passkeys_of(user))
        facts["passkey_options"] = options
    status = form.http_status if form else 200
    response = page(request, "accounts/second_factor.html", facts, shown=shown, status=status)
    return shown_once.forget(response) if shown else response


def _added(request: HttpRequest, user: User, name: str) -> HttpResponse:
    messages.success(request, f"{name} added.")
    note_second_factor(request)
    if user.second_factors.count() == 1:  # browsers that signed in without it must do so again
        sign_out_browsers(user, but=request.session.session_key)
    return see_other("second_factor") if user.recovery_codes.exists() else _with_new_codes(user)


def _with_new_codes(user: User) -> HttpResponse:
    codes = "\n".join(commands.make_recovery_codes(user))
    return hand_over(see_other("second_factor"), user, ShownOnce(kind="codes", subject="", text=codes))


def _qr_code(address: str) -> SafeString:
    """Return the address as an SVG: black on white in both themes, as scanners need it."""
    return SafeString(
        segno.make(address, error="m", micro=False).svg_inline(scale=5, border=4, light="white")
    )
