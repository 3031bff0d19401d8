"""Manage members and API keys of the project."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import keys, links, projects
from timemachine.core.accounts.models import ADMIN
from timemachine.core.accounts.second_factor import commands as second_factor
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.web.access import ROLE_WORDS, Access, post_view
from timemachine.web.errors import page_message
from timemachine.web.http import see_other
from timemachine.web.settings.forms.accounts import InviteForm, KeyForm, KeyLifetimeForm
from timemachine.web.settings.views.settings import settings_page
from timemachine.web.shown_once import ShownOnce, hand_over


@post_view(ADMIN)
def invite(request: HttpRequest, access: Access) -> HttpResponse:
    """Invite a member; the next page shows the link once."""
    form = InviteForm(request.POST)
    secret = form.run(lambda: projects.invite(access.project, **form.cleaned_data, by=access.user))
    if secret is None:
        return settings_page(request, access, invite_form=form)
    shown = ShownOnce(kind="invite", subject=form.cleaned_data["email"], text=links.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), access.user, shown)


@post_view(ADMIN)
def withdraw(request: HttpRequest, access: Access, link_id: int) -> HttpResponse:
    """Withdraw an invitation that was not accepted."""
    invitation = queries.invitation(access.project, link_id)
    projects.withdraw_invitation(invitation)
    messages.success(request, f"Invitation of {invitation.user.email} withdrawn.")
    return see_other("settings", part="members")


@post_view(ADMIN)
def role(request: HttpRequest, access: Access, member_id: int) -> HttpResponse:
    """Change the role of a member."""
    member = queries.member(access.project, member_id)
    try:
        projects.change_role(member, request.POST.get("role", ""))
    except (Conflict, InvalidInput) as why:
        return _refuse(request, access, why)
    messages.success(request, f"{member.user} is now {ROLE_WORDS[member.role]}.")
    return see_other("settings", part="members")


@post_view(ADMIN)
def remove(request: HttpRequest, access: Access, member_id: int) -> HttpResponse:
    """End a membership, and list the person's keys that still work."""
    member = queries.member(access.project, member_id)
    try:
        active_keys = projects.remove_member(member)
    except Conflict as why:
        return _refuse(request, access, why)
    messages.success(request, f"{member.user} is no longer a member of {access.project.name}.")
    if active_keys:
        messages.warning(
            request,
            f"Active API keys created by {member.user}: {active_keys}. Revoke those that are not needed.",
        )
    return see_other("settings", part="members")


@post_view(ADMIN)
def reset(request: HttpRequest, access: Access, member_id: int) -> HttpResponse:
    """Create a password reset link for a member; the next page shows it once."""
    member = queries.member(access.project, member_id)
    try:
        secret = projects.make_reset_link(member, by=access.user)
    except NotAllowed as why:
        return _refuse(request, access, why)
    shown = ShownOnce(kind="reset", subject=str(member.user), text=links.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), access.user, shown)


@post_view(ADMIN)
def remove_second_factor(request: HttpRequest, access: Access, member_id: int) -> HttpResponse:
    """Remove the second factors of a member who lost them."""
    member = queries.member(access.project, member_id)
    try:
        second_factor.reset_factors_of(member, by=access.user)
    except NotAllowed as why:
        return _refuse(request, access, why)
    messages.success(
        request, f"Second factor of {member.user} removed. All browsers of this member are signed out."
    )
    return see_other("settings", part="members")


@post_view(ADMIN)
def require_second_factor(request: HttpRequest, access: Access) -> HttpResponse:
    """Require a second factor of every member if the switch is `on`; for any other value, stop requiring it."""
    needed = request.POST.get("switch") == "on"
    projects.require_second_factor(access.project, needed=needed)
    messages.success(
        request,
        "Every member needs a second factor now." if needed else "Members do not need a second factor now.",
    )
    return see_other("settings", part="members")


@post_view(ADMIN)
def make_key(request: HttpRequest, access: Access) -> HttpResponse:
    """Create an API key; the next page shows it once."""
    form = KeyForm(request.POST, longest_days=access.project.longest_key_days)
    made = form.run(
        lambda: keys.make_api_key(
            access.project,
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            expires_at=form.expires_at,
            never_expires=form.never_expires,
            by=access.user,
        )
    )
    if made is None:
        return settings_page(request, access, key_form=form)
    key, text = made
    shown = ShownOnce(kind="key", subject=key.name, text=text)
    return hand_over(see_other("settings", part="keys"), access.user, shown)


@post_view(ADMIN)
def revoke_key(request: HttpRequest, access: Access, key_id: str) -> HttpResponse:
    """Revoke an API key."""
    key = queries.key(access.project, key_id)
    keys.revoke_api_key(key)
    messages.success(request, f"Key {key.name} revoked.")
    return see_other("settings", part="keys")


@post_view(ADMIN)
def key_lifetime(request: HttpRequest, access: Access) -> HttpResponse:
    """Set the longest lifetime of new API keys; empty for no limit."""
    form = KeyLifetimeForm(request.POST)
    if not form.succeeds(lambda: keys.limit_key_lifetime(access.project, form.cleaned_data["days"])):
        return settings_page(request, access, key_lifetime_form=form)
    days = access.project.longest_key_days
    messages.success(
        request,
        "New keys can have any lifetime."
        if days is None
        else f"New keys expire after at most {counted(days, 'day')}.",
    )
    return see_other("settings", part="keys")


def _refuse(request: HttpRequest, access: Access, error: TimeMachineError) -> HttpResponse:
    """Return the settings page with an error at the top."""
    messages.error(request, page_message(error))
    return settings_page(request, access, status=error.status)
