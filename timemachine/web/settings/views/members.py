"""Members of the project, as its administrators settle them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts import commands, queries
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
    """Invite somebody; the page that follows shows the link once, to hand over."""
    who = access.of(request)
    who.require(ADMIN)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return page(request, who, status=422, invite_form=form)
    try:
        secret = commands.invite(who.project, **form.cleaned_data, by=who.user)
    except (Conflict, InvalidInput) as why:
        form.add_error("email", why.message)
        return page(request, who, status=why.status, invite_form=form)
    shown = ShownOnce(kind="invite", subject=form.cleaned_data["email"], text=commands.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), who.user, shown)


@never_cache
@require_POST
def withdraw(request: HttpRequest, link_id: int) -> HttpResponse:
    """End an invitation that was not accepted."""
    who = access.of(request)
    who.require(ADMIN)
    invitation = queries.invitation(who.project, link_id)
    commands.withdraw_invitation(invitation)
    messages.success(request, f"The invitation of {invitation.user.email} does not work any more.")
    return see_other("settings", part="members")


@never_cache
@require_POST
def role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Give a member another role."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        commands.change_role(member, request.POST.get("role", ""))
    except (Conflict, InvalidInput) as why:
        return refuse(request, who, why)
    messages.success(request, f"{member.user} is {access.ROLE_WORDS[member.role]} now.")
    return see_other("settings", part="members")


@never_cache
@require_POST
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """End a membership; says whether keys that this person made still work."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        keys = commands.remove_member(member)
    except Conflict as why:
        return refuse(request, who, why)
    messages.success(request, f"{member.user} is no member of {who.project.name} any more.")
    if keys:
        messages.warning(
            request,
            f"API keys that {member.user} made and that still work: {keys}. Revoke what nobody needs.",
        )
    return see_other("settings", part="members")


@never_cache
@require_POST
def reset(request: HttpRequest, member_id: int) -> HttpResponse:
    """Make a link with which a member chooses a new password; the page that follows shows it once."""
    who = access.of(request)
    who.require(ADMIN)
    member = queries.member(who.project, member_id)
    try:
        secret = commands.make_reset_link(member, by=who.user)
    except NotAllowed as why:
        return refuse(request, who, why)
    shown = ShownOnce(kind="reset", subject=str(member.user), text=commands.sign_in_url(secret))
    return hand_over(see_other("settings", part="members"), who.user, shown)
