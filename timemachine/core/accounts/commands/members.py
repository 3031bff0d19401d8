"""Members of a project: invited, given a role, helped with a forgotten password, removed."""

from django.db import transaction

from timemachine.core.accounts.commands.links import make_sign_in_link
from timemachine.core.accounts.models import ADMIN, ROLES, ApiKey, Membership, Project, SignInLink, User
from timemachine.core.accounts.naming import clean_email
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed


@transaction.atomic
def invite(project: Project, *, email: str, role: str, by: User | None = None) -> str:
    """The secret of a link by which the person of that address joins the project; an earlier invitation ends.

    Raises `InvalidInput` for what is no address or role, `Conflict` for somebody who is a member already.
    """
    email = clean_email(email)
    _check_role(role)
    user, new = User.objects.get_or_create(email=email)
    if new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    if project.memberships.filter(user=user).exists():
        raise Conflict(
            f"{email} is a member of this project already; change the role in the list of members.",
            code="member_already",
        )
    project.invitations.filter(user=user, used_at=None).delete()
    return make_sign_in_link(user, SignInLink.INVITE, project=project, role=role, by=by)


def withdraw_invitation(invitation: SignInLink) -> None:
    """End an invitation that nobody has accepted."""
    SignInLink.objects.filter(pk=invitation.pk, used_at=None).delete()


@transaction.atomic
def change_role(member: Membership, role: str) -> None:
    """Give a member another role, from the next request on.

    Raises `InvalidInput` for an unknown role, `Conflict` for the last administrator.
    """
    _check_role(role)
    _hold_members(member.project)
    member.refresh_from_db()
    if member.role == ADMIN and role != ADMIN:
        _check_not_last(member)
        _withdraw_made_by(member)
    member.role = role
    member.save(update_fields=["role"])


@transaction.atomic
def remove_member(member: Membership) -> int:
    """End a membership, from the next request on; answers how many live API keys this person had made.

    Those go on working for the project: programs use them. Raises `Conflict` for the last administrator.
    """
    _hold_members(member.project)
    member.refresh_from_db()
    if member.role == ADMIN:
        _check_not_last(member)
        _withdraw_made_by(member)
    member.delete()
    return ApiKey.objects.filter(project=member.project, created_by=member.user, revoked_at=None).count()


@transaction.atomic
def make_reset_link(member: Membership, *, by: User) -> str:
    """The secret of a link with which a member chooses a new password; an earlier one ends.

    Raises `NotAllowed` where the member also belongs to a project that `by` does not administer: the link would open it.
    """
    _hold_members(member.project)
    elsewhere = member.user.memberships.exclude(project__memberships__in=by.memberships.filter(role=ADMIN))
    if elsewhere.exists():
        raise NotAllowed(
            f"{member.user} belongs to other projects too, so no single project may reset that password. "
            f"Whoever runs this server can: manage.py sign_in_link --email {member.user.email}",
            code="member_elsewhere",
        )
    SignInLink.objects.filter(user=member.user, purpose=SignInLink.RESET, used_at=None).delete()
    return make_sign_in_link(member.user, SignInLink.RESET, by=by)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise InvalidInput(
            f"There is no role {role!r}; the roles are {', '.join(ROLES)}.", code="unknown_role"
        )


def _hold_members(project: Project) -> None:
    # Two administrators who demote each other at the same moment would otherwise leave none. NO KEY: recording goes on.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _check_not_last(member: Membership) -> None:
    others = member.project.memberships.filter(role=ADMIN, user__is_active=True).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict(
            f"{member.user} is the last administrator of this project. Make somebody else administrator first.",
            code="last_administrator",
        )


def _withdraw_made_by(member: Membership) -> None:
    # Who is no administrator any more must not hold links that still let people in.
    member.project.invitations.filter(created_by=member.user, used_at=None).delete()
    SignInLink.objects.filter(created_by=member.user, purpose=SignInLink.RESET, used_at=None).delete()
