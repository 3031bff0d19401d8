"""Settings: account, appearance and project; for administrators also members and keys."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as configured
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import people, projects
from timemachine.core.accounts.models import ADMIN, Project, User
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotSignedIn, TimeMachineError, TooManyRequests
from timemachine.evidence.log.anchors import anchors_of, key_for_witness
from timemachine.evidence.log.keys import earlier_keys, key_in_use
from timemachine.recording.annotations.significance.compression import rule_of
from timemachine.recording.answering.cache import status_of
from timemachine.web import access, shown_once
from timemachine.web.access import Access
from timemachine.web.errors import waiting
from timemachine.web.page_chrome import THEMES
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.accounts import (
    ROLE_NAMES,
    THEME_CHOICES,
    AccountForm,
    ChangePasswordForm,
    InviteForm,
    KeyForm,
    NewProjectForm,
    ProjectForm,
    YouForm,
)
from timemachine.web.settings.forms.anchors import AnchorsForm
from timemachine.web.settings.forms.compression import CompressionForm
from timemachine.web.settings.views.sign_in import LINK_USED_AT

LINK_COUNTS_FOR = timedelta(hours=1)
THEME_KEPT = timedelta(days=365)


@never_cache
@require_safe
def settings(request: HttpRequest) -> HttpResponse:
    """Show all settings available to the member."""
    return page(request, access.of(request))


def page(request: HttpRequest, who: Access, *, status: int = 200, **forms: AccountForm) -> HttpResponse:
    """Return the settings page; `forms` are refused forms."""
    shown = shown_once.taken(request, who.user)
    facts = _of_member(request, who) | (_of_administrator(who) if who.administers else {}) | forms
    response = render(request, "accounts/settings.html", facts | {"shown": shown}, status=status)
    return shown_once.forget(response) if shown else response


def refuse(request: HttpRequest, who: Access, error: TimeMachineError) -> HttpResponse:
    """Return the settings page with an error at the top."""
    messages.error(request, error.message)
    return page(request, who, status=error.status)


@never_cache
@require_POST
def you(request: HttpRequest) -> HttpResponse:
    """Change your name."""
    who = access.of(request)
    form = YouForm(request.POST)
    refused = _refused(form, lambda name: people.rename_person(who.user, name))
    if refused:
        return page(request, who, status=refused, you_form=form)
    messages.success(request, "Name changed.")
    return see_other("settings", part="you")


@never_cache
@sensitive_post_parameters("current", "password", "again")
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change the password; all other sessions of the person end."""
    who = access.of(request)
    form = ChangePasswordForm(who.user, request.POST, asks_current=_asks_current(request, who.user))
    if not form.is_valid():
        return page(request, who, status=422, password_form=form)
    try:
        _set_password(request, who.user, form)
    except (NotSignedIn, TooManyRequests) as why:
        form.add_error("current", why.message)
        return waiting(page(request, who, status=why.status, password_form=form), why)
    update_session_auth_hash(request, who.user)
    request.session.pop(LINK_USED_AT, None)
    messages.success(request, "Password changed. All other browsers are signed out.")
    return see_other("settings", part="you")


@never_cache
@require_POST
def appearance(request: HttpRequest) -> HttpResponse:
    """Set the theme to light, dark or system, in a cookie of this browser, signed in or not."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise InvalidInput(
            f"There is no theme {theme!r}. Choose one of {', '.join(THEMES)}.", code="unknown_theme"
        )
    response = see_other(_page_before(request))
    response.set_cookie(
        "tm_theme",
        theme,
        max_age=THEME_KEPT,
        secure=configured.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@never_cache
@require_POST
def project(request: HttpRequest) -> HttpResponse:
    """Rename the project."""
    who = access.of(request)
    who.require(ADMIN)
    form = ProjectForm(request.POST)
    refused = _refused(form, lambda name: projects.rename_project(who.project, name))
    if refused:
        return page(request, who, status=refused, project_form=form)
    messages.success(request, "Project renamed.")
    return see_other("settings", part="project")


@never_cache
@require_POST
def new_project(request: HttpRequest) -> HttpResponse:
    """Create another project, with the person as administrator."""
    who = access.of(request)
    who.require(ADMIN)
    form = NewProjectForm(request.POST)
    made: list[Project] = []
    refused = _refused(form, lambda name: made.append(projects.make_project(name, administrator=who.user)))
    if refused:
        return page(request, who, status=refused, new_project_form=form)
    access.choose_project(request, str(made[0].pk))
    messages.success(request, f"You are now in {made[0].name}.")
    return see_other("settings", part="project")


@never_cache
@require_POST
def choose_project(request: HttpRequest) -> HttpResponse:
    """Switch to another of the person's projects."""
    access.choose_project(request, request.POST.get("project", ""))
    return see_other("/")


def _refused(form: AccountForm, command: Callable[[str], object]) -> int | None:
    """Run the command; return None, or add the error to the form and return the HTTP status."""
    if not form.is_valid():
        return 422
    try:
        command(form.cleaned_data["name"])
    except InvalidInput as why:
        form.add_error("name", why.message)
        return why.status
    return None


def _of_member(request: HttpRequest, who: Access) -> dict[str, Any]:
    asks_current = _asks_current(request, who.user)
    return {
        "you_form": YouForm(initial={"name": who.user.name}),
        "password_form": ChangePasswordForm(who.user, asks_current=asks_current),
        "role_words": access.ROLE_WORDS[who.role],
        "themes": THEME_CHOICES,
        "theme": request.COOKIES.get("tm_theme", ""),
        "cache": status_of(who.project),
        "compression_rule": rule_of(who.project),
        "evidence_key": key_in_use(who.project),
        "earlier_keys": earlier_keys(who.project),
        "anchors": anchors_of(who.project),
        "others": [one for one in who.memberships if one != who.membership],
    }


def _of_administrator(who: Access) -> dict[str, Any]:
    return {
        "compression_form": CompressionForm.of(rule_of(who.project)),
        "anchors_form": AnchorsForm.of(anchors_of(who.project)),
        "witness_key": key_for_witness(who.project),
        "project_form": ProjectForm(initial={"name": who.project.name}),
        "new_project_form": NewProjectForm(),
        "members": queries.members_of(who.project),
        "invitations": queries.invitations_of(who.project),
        "invite_form": InviteForm(),
        "roles": ROLE_NAMES,
        "keys": queries.keys_of(who.project),
        "key_form": KeyForm(),
        "now": now(),
    }


def _asks_current(request: HttpRequest, user: User) -> bool:
    used_at = request.session.get(LINK_USED_AT)
    fresh = used_at is not None and datetime.fromtimestamp(used_at, UTC) > now() - LINK_COUNTS_FOR
    return user.has_usable_password() and not fresh


def _set_password(request: HttpRequest, user: User, form: ChangePasswordForm) -> None:
    said = form.cleaned_data
    if "current" not in said:
        people.set_password(user, said["password"])
        return
    address = access.address_of(request)
    people.change_password(user, said["current"], said["password"], address=address)


def _page_before(request: HttpRequest) -> str:
    before = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(before, allowed_hosts={request.get_host()}):
        return "/"
    parts = urlsplit(before)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
