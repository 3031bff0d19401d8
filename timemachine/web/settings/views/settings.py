"""The settings page, and its forms of the person and the browser."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings as configured
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import people
from timemachine.core.accounts.models import User
from timemachine.core.accounts.second_factor.queries import has_second_factor
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotAllowed, NotSignedIn, TooManyRequests
from timemachine.recording.annotations.significance.compression import rule_of
from timemachine.recording.answering.cache import status_of
from timemachine.web import shown_once
from timemachine.web.access import ROLE_WORDS, Access, get_view, post_view
from timemachine.web.errors import waiting
from timemachine.web.form_parts import RecordForm
from timemachine.web.http import page, see_other
from timemachine.web.page_chrome import THEMES
from timemachine.web.settings.forms import accounts as forms
from timemachine.web.settings.signing_in import LINK_USED_AT, signed_in_recently
from timemachine.web.settings.this_browser import know_browser

LINK_COUNTS_FOR = timedelta(hours=1)
CHOICE_KEPT = timedelta(days=365)


@get_view(fresh=True)
def settings(request: HttpRequest, access: Access) -> HttpResponse:
    """Show all settings available to the member."""
    return settings_page(request, access)


def settings_page(
    request: HttpRequest, access: Access, *, status: int = 200, **refused: RecordForm
) -> HttpResponse:
    """Return the settings page; forms that were `refused` are shown again with their errors."""
    shown = shown_once.taken(request, access.user)
    facts = _of_member(request, access) | (_of_administrator(access) if access.administers else {})
    status = max(status, *(form.http_status for form in refused.values()), 200)
    response = page(request, "accounts/settings.html", {**facts, **refused}, shown=shown, status=status)
    return shown_once.forget(response) if shown else response


@post_view()
def you(request: HttpRequest, access: Access) -> HttpResponse:
    """Change your name."""
    form = forms.YouForm(request.POST)
    if not form.succeeds(lambda: people.rename_person(access.user, form.cleaned_data["name"])):
        return settings_page(request, access, you_form=form)
    messages.success(request, "Name changed.")
    return see_other("settings", part="you")


@sensitive_post_parameters("current", "password", "again")
@post_view()
def password(request: HttpRequest, access: Access) -> HttpResponse:
    """Change the password; all other sessions of the person end."""
    if not configured.PASSWORD_SIGN_IN:
        raise NotAllowed("Passwords are switched off on this server.", code="passwords_off")
    if not access.user.has_usable_password() and not signed_in_recently(request):
        raise NotSignedIn("Sign in again to set a password.", code="sign_in_again")
    form = forms.ChangePasswordForm(
        access.user, request.POST, asks_current=_asks_current(request, access.user)
    )
    if not form.is_valid():
        return settings_page(request, access, password_form=form)
    try:
        _set_password(access.user, form)
    except (NotSignedIn, TooManyRequests) as why:
        form.refuse(why)
        return waiting(settings_page(request, access, password_form=form), why)
    update_session_auth_hash(request, access.user)
    request.session.pop(LINK_USED_AT, None)
    messages.success(request, "Password changed. All other browsers are signed out.")
    return know_browser(see_other("settings", part="you"), access.user)


@never_cache
@require_POST
def appearance(request: HttpRequest) -> HttpResponse:
    """Set the theme to light, dark or system, in a cookie of this browser, signed in or not."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise InvalidInput(
            f"There is no theme {theme!r}. Choose one of {', '.join(THEMES)}.", code="unknown_theme"
        )
    return _with_choice(see_other(_page_before(request)), "tm_theme", theme)


@require_POST
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Turn the keyboard shortcuts of this browser on or off, and return to the previous page."""
    keys = "off" if request.POST.get("keys") == "off" else "on"
    return _with_choice(see_other(_page_before(request)), "tm_keys", keys)


def _with_choice(response: HttpResponse, cookie: str, value: str) -> HttpResponse:
    """Store a choice in this browser."""
    response.set_cookie(
        cookie,
        value,
        max_age=CHOICE_KEPT,
        secure=configured.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _of_member(request: HttpRequest, access: Access) -> dict[str, object]:
    return {
        "you_form": forms.YouForm(initial={"name": access.user.name}),
        "password_form": forms.ChangePasswordForm(
            access.user, asks_current=_asks_current(request, access.user)
        ),
        "role_words": ROLE_WORDS[access.role],
        "themes": forms.THEME_CHOICES,
        "theme": request.COOKIES.get("tm_theme", ""),
        "cache": status_of(access.project),
        "compression_rule": rule_of(access.project),
        "has_password": configured.PASSWORD_SIGN_IN,
        "has_second_factor": has_second_factor(access.user),
        "browsers": queries.browsers_of(access.user),
        "this_browser": request.session.session_key,
        "others": [one for one in access.memberships if one != access.membership],
    }


def _of_administrator(access: Access) -> dict[str, object]:
    rule = rule_of(access.project)
    return {
        "compression_form": forms.CompressionForm(initial={"days": rule and rule.days}),
        "project_form": forms.ProjectForm(initial={"name": access.project.name}),
        "new_project_form": forms.NewProjectForm(),
        "members": queries.members_of(access.project),
        "invitations": queries.invitations_of(access.project),
        "invite_form": forms.InviteForm(),
        "roles": forms.ROLE_NAMES,
        "keys": queries.keys_of(access.project),
        "key_form": forms.KeyForm(longest_days=access.project.longest_key_days),
        "key_lifetime_form": forms.KeyLifetimeForm(initial={"days": access.project.longest_key_days}),
        "expiring": queries.keys_that_expire_soon(access.project).count(),
        "now": now(),
        "soon": now() + queries.SOON,
    }


def _asks_current(request: HttpRequest, user: User) -> bool:
    used_at = request.session.get(LINK_USED_AT)
    fresh = used_at is not None and datetime.fromtimestamp(used_at, UTC) > now() - LINK_COUNTS_FOR
    return user.has_usable_password() and not fresh


def _set_password(user: User, form: forms.ChangePasswordForm) -> None:
    data = form.cleaned_data
    if "current" not in data:
        people.set_password(user, data["password"])
        return
    people.change_password(user, data["current"], data["password"])


def _page_before(request: HttpRequest) -> str:
    before = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(before, allowed_hosts={request.get_host()}):
        return "/"
    parts = urlsplit(before)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
