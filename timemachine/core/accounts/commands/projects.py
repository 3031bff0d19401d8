"""Projects and their members: create, rename; invite, change roles, reset passwords, remove."""

from django.db import transaction

from timemachine.core.accounts.commands.links import (
    lock_person,
    make_sign_in_link,
    withdraw_reset_links,
)
from timemachine.core.accounts.models import ADMIN, ROLES, ApiKey, Membership, Project, SignInLink, User
from timemachine.core.accounts.naming import clean_email, clean_name
from timemachine.core.accounts.queries import belongs_elsewhere
from timemachine.core.audit.commands import record
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed
from timemachine.core.row_security import rows_of_every_project


@rows_of_every_project()
@transaction.atomic
def make_project(name: str, *, administrator: User) -> Project:
    """Create a project with its first administrator. Raises `InvalidInput` if the name is not valid."""
    project = Project.objects.create(name=clean_name(name, of="the project"))
    lock_person(administrator)
    Membership.objects.create(project=project, user=administrator, role=ADMIN)
    withdraw_reset_links(administrator)
    record(project, "project.created", "project", project.pk, name=project.name)
    return project


@transaction.atomic
def rename_project(project: Project, name: str) -> None:
    """Rename a project. Raises `InvalidInput` if the name is not valid."""
    project.name = clean_name(name, of="the project")
    project.save(update_fields=["name"])
    record(project, "project.renamed", "project", project.pk, name=project.name)


@transaction.atomic
def invite(project: Project, *, email: str, role: str, by: User | None = None) -> str:
    """Invite the person with this address and return the secret of the link. It replaces an earlier invitation. Raises
    `InvalidInput` if the address or the role is invalid, and `Conflict` if the person is already a member.
    """
    email = clean_email(email)
    _check_role(role)
    user, new = User.objects.get_or_create(email=email)
    if new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    if project.memberships.filter(user=user).exists():
        raise Conflict(
            f"{email} is already a member of this project. Change the role in the list of members.",
            code="member_already",
        )
    project.invitations.filter(user=user, used_at=None).delete()
    record(project, "member.invited", "person", email, role=role)
    return make_sign_in_link(user, SignInLink.INVITE, project=project, role=role, by=by)


@transaction.atomic
def withdraw_invitation(invitation: SignInLink) -> None:
    """Delete an invitation that was not accepted yet."""
    deleted, _ = SignInLink.objects.filter(pk=invitation.pk, used_at=None).delete()
    if deleted and invitation.project:
        record(invitation.project, "member.invitation_withdrawn", "person", invitation.user.email)


@transaction.atomic
def change_role(member: Membership, role: str) -> None:
    """Change a member's role, effective from the next request. Raises `InvalidInput` for an unknown role, and
    `Conflict` if the member is the last administrator.
    """
    _check_role(role)
    lock_members(member.project)
    member.refresh_from_db()
    if member.role == ADMIN and role != ADMIN:
        _check_not_last(member)
        withdraw_made_by(member)
    if member.role == role:
        return
    before, member.role = member.role, role
    member.from_provider = False  # what was decided by hand stays, whatever groups the provider names later
    member.save(update_fields=["role", "from_provider"])
    record(member.project, "member.role_changed", "person", member.user.email, before=before, role=role)


@transaction.atomic
def remove_member(member: Membership) -> int:
    """Remove a member, effective from the next request. Return how many valid API keys this person had created.

    The keys stay valid, because programs of the project use them. Raises `Conflict` if the member is the last
    administrator.
    """
    lock_members(member.project)
    member.refresh_from_db()
    if member.role == ADMIN:
        _check_not_last(member)
        withdraw_made_by(member)
    record(member.project, "member.removed", "person", member.user.email, role=member.role)
    member.delete()
    return ApiKey.objects.filter(project=member.project, created_by=member.user, revoked_at=None).count()


@transaction.atomic
def make_reset_link(member: Membership, *, by: User) -> str:
    """Create a link for setting a new password and return its secret. It replaces an earlier link. Raises `NotAllowed`
    if the member also belongs to a project that `by` does not administer, which the link would open.
    """
    lock_members(member.project)
    lock_person(member.user)
    if belongs_elsewhere(member.user, by):
        raise NotAllowed(
            f"{member.user} belongs to other projects too, so no single project can reset that password. "
            f"The operator of this server can, with timemachine manage sign_in_link --email {member.user.email}",
            code="member_elsewhere",
        )
    withdraw_reset_links(member.user)
    record(member.project, "member.reset_link_created", "person", member.user.email)
    return make_sign_in_link(member.user, SignInLink.RESET, by=by)


@transaction.atomic
def require_second_factor(project: Project, *, needed: bool) -> None:
    """Show the project only to members who signed in with a second factor, or again to all members. API keys need none."""
    project.needs_second_factor = needed
    project.save(update_fields=["needs_second_factor"])
    record(project, "setting.changed", "setting", "second factor", needed=needed)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"Unknown role {role!r}. The roles are {', '.join(ROLES)}.", code="unknown_role")


def lock_members(project: Project) -> None:
    """Let other changes of who belongs to the project, and with which role, wait until this transaction ends."""
    # Otherwise two administrators who demote each other simultaneously would leave none. NO KEY does not block recording.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _check_not_last(member: Membership) -> None:
    others = member.project.memberships.filter(role=ADMIN, user__is_active=True).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict(
            f"{member.user} is the last administrator of this project. Make someone else administrator first.",
            code="last_administrator",
        )


def withdraw_made_by(member: Membership) -> None:
    """Delete the invitations and reset links of a member who is no longer an administrator: they would still let people in."""
    member.project.invitations.filter(created_by=member.user, used_at=None).delete()
    SignInLink.objects.filter(created_by=member.user, purpose=SignInLink.RESET, used_at=None).delete()
