"""Manage members of the project."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import links, projects
from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed
from timemachine.web import access
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.accounts import InviteForm
from timemachine.web.settings.views.settings import page, refuse
from timemachine.web.shown_once import ShownOnce, hand_over


@never_cache
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """Invite a member; the next page shows the link once."""
    who = access.of(request)
    who.require(ADMIN)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return page(request, who, status=422, invite_form=form)
    try:
        secret = projects.invite(who.project, **form.cleaned_data, by=who.user)
    except (Conflict, InvalidInput) as why:
        form.add_error("email", why.message)
        return page(request, who, status=why.status, invite_form=form)
    shown = ShownOnce(kind="invite", subject=form.cleaned_data["email"], text=links.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), who.user, shown)


@never_cache
@require_POST
def withdraw(request: HttpRequest, link_id: int) -> HttpResponse:
    """Withdraw an invitation that was not accepted."""
    who = access.of(request)
    who.require(ADMIN)
    invitation = queries.invitation(who.project, link_id)
    projects.withdraw_invitation(invitation)
    messages.success(request, f"Invitation of {invitation.user.email} withdrawn.")
    return see_other("settings", part="members")


@never_cache
@require_POST
def role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Change the role of a member."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        projects.change_role(member, request.POST.get("role", ""))
    except (Conflict, InvalidInput) as why:
        return refuse(request, who, why)
    messages.success(request, f"{member.user} is now {access.ROLE_WORDS[member.role]}.")
    return see_other("settings", part="members")


@never_cache
@require_POST
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """End a membership, and list the person's keys that still work."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        keys = projects.remove_member(member)
    except Conflict as why:
        return refuse(request, who, why)
    messages.success(request, f"{member.user} is no longer a member of {who.project.name}.")
    if keys:
        messages.warning(
            request,
            f"Active API keys created by {member.user}: {keys}. Revoke those that are not needed.",
        )
    return see_other("settings", part="members")


@never_cache
@require_POST
def reset(request: HttpRequest, member_id: int) -> HttpResponse:
    """Create a password reset link for a member; the next page shows it once."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        secret = projects.make_reset_link(member, by=who.user)
    except NotAllowed as why:
        return refuse(request, who, why)
    shown = ShownOnce(kind="reset", subject=str(member.user), text=links.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), who.user, shown)
