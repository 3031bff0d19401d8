"""Sign in by password or one-time link, the first sign-in, and sign out."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from timemachine.core.accounts.commands import first_start, links, people
from timemachine.core.accounts.models import SignInLink, User
from timemachine.core.accounts.provider.protocol import is_configured
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, NotSignedIn, TooManyRequests
from timemachine.web import access
from timemachine.web.errors import page_message, waiting
from timemachine.web.http import back_to, page, see_other
from timemachine.web.row_security import for_every_project
from timemachine.web.settings import signing_in
from timemachine.web.settings.forms.accounts import SignInForm, WelcomeForm
from timemachine.web.settings.this_browser import know_browser, known_browser

_AGAIN = "For this change you must have signed in within the last hour. Please sign in again."


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@for_every_project
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with e-mail and password, and return to the requested page."""
    if request.method != "POST":
        if request.user.is_authenticated and "again" not in request.GET:
            return see_other(back_to(request))
        return sign_in_page(request, note=_AGAIN if "again" in request.GET else "")
    form = SignInForm(request.POST)
    if not settings.PASSWORD_SIGN_IN:
        return sign_in_page(request, status=HTTPStatus.FORBIDDEN)
    if not form.is_valid():
        return sign_in_page(request, form, status=422)
    try:
        user = people.sign_in(
            **form.cleaned_data, address=access.address_of(request), browser=known_browser(request)
        )
    except (NotSignedIn, TooManyRequests) as why:
        form.add_error(None, page_message(why))
        return waiting(sign_in_page(request, form, status=why.status), why)
    return signing_in.begin(request, user, following=back_to(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@for_every_project
def open_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Open a one-time link. GET does not use it up, so that previews in mails and chats are harmless."""
    if request.method != "POST":
        return page(request, "accounts/open_link.html")
    person = request.user if isinstance(request.user, User) else None
    try:
        link = links.use_sign_in_link(secret, signed_in=person)
    except NotFound as why:
        return page(request, "accounts/link_not_valid.html", status=why.status, message=page_message(why))
    except NotSignedIn as why:
        form = SignInForm(initial={"email": why.facts.get("email", "")})
        return sign_in_page(request, form, status=why.status, note=page_message(why), following=request.path)
    return _signed_in_by(request, link)


@never_cache
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
@for_every_project
def welcome(request: HttpRequest) -> HttpResponse:
    """Ask for name and password at the first sign-in, and for the first administrator's e-mail."""
    user = access.signed_in(request)
    if not _needs_password(user):
        return see_other("/")
    if not signing_in.signed_in_recently(request):
        raise NotSignedIn(
            "This sign-in is more than an hour old. To set a password, ask an administrator for a new link to sign in.",
            code="sign_in_again",
        )
    asks_email = user.email == first_start.FIRST_EMAIL
    form = WelcomeForm(user, request.POST or None, asks_email=asks_email)
    if form.is_valid() and _introduced(request, user, form):
        return know_browser(see_other("/"), user)
    return page(request, "accounts/welcome.html", status=422 if form.is_bound else 200, form=form)


@require_POST
@for_every_project
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out this browser."""
    logout(request)
    return see_other("sign_in")


def sign_in_page(
    request: HttpRequest,
    form: SignInForm | None = None,
    *,
    status: int = 200,
    note: str = "",
    following: str | None = None,
) -> HttpResponse:
    """Return the sign-in page with the ways in that this server offers."""
    back, again = following or back_to(request), {"again": "1"} if "again" in request.GET else {}
    facts: dict[str, object] = {"form": form or SignInForm(), "note": note, "next": back}
    facts["has_password"] = settings.PASSWORD_SIGN_IN
    if is_configured():
        facts["provider"] = settings.OIDC_NAME
        facts["provider_address"] = reverse("provider", query={"next": back} | again)
    return page(request, "accounts/sign_in.html", facts, status=status)


def _signed_in_by(request: HttpRequest, link: SignInLink) -> HttpResponse:
    # accepting an invitation while signed in proves nothing new about the person
    was_in = link.purpose == SignInLink.INVITE and request.user == link.user
    needs_password = _needs_password(link.user)
    return signing_in.begin(
        request,
        link.user,
        following=resolve_url("welcome" if needs_password and not was_in else "sessions"),
        project_id=str(link.project.pk) if link.project else None,
        way="link",
        by_link=not needs_password and link.purpose == SignInLink.SIGN_IN,
        proved_at=signing_in.proved_at(request) if was_in else None,
    )


def _needs_password(user: User) -> bool:
    """Return whether this person should set a password: has none yet, and does not sign in with the provider."""
    if user.has_usable_password() or not settings.PASSWORD_SIGN_IN:
        return False
    return not user.provider_identities.exists()


def _introduced(request: HttpRequest, user: User, form: WelcomeForm) -> bool:
    data = form.cleaned_data
    try:
        people.complete_profile(user, name=data["name"], password=data["password"], email=data.get("email"))
    except Conflict as why:
        form.add_error("email", page_message(why))
        return False
    except InvalidInput as why:
        form.add_error("name", page_message(why))
        return False
    update_session_auth_hash(request, user)
    return True
