"""Find or create the person whom the provider has signed in, and give the roles of their groups."""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from timemachine.core.accounts.commands.links import lock_person, withdraw_reset_links
from timemachine.core.accounts.commands.projects import withdraw_made_by
from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import (
    ADMIN,
    ROLES,
    Membership,
    Project,
    ProviderIdentity,
    SignInLink,
    User,
)
from timemachine.core.accounts.naming import clean_email, clean_name
from timemachine.core.accounts.provider.protocol import Claims, refused
from timemachine.core.accounts.provider.pure.roles import roles_of
from timemachine.core.accounts.second_factor.commands import remove_all_factors
from timemachine.core.audit.commands import record
from timemachine.core.audit.pure.actions import Action
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.errors import InvalidInput, NotAllowed

BY_PROVIDER: Final = "sign-in provider"
"""The actor of what follows from a sign-in with the provider: roles of groups, and what an account loses the first time."""


@transaction.atomic
def person_of(claims: Claims) -> User:
    """Return the person of these verified claims, with the roles that their groups give now.

    Someone new gets an account if a group gives them a role. An existing account is found by the subject, and the first
    time by its e-mail address. Raises `NotSignedIn` without a verified e-mail address, and `NotAllowed` for someone new
    whose groups give no role.
    """
    issuer, subject = str(claims["iss"]), str(claims["sub"])
    lock_until_commit(f"provider {issuer} {subject}")
    roles = roles_of(_groups(claims), settings.OIDC_ROLES, ROLES)
    known = ProviderIdentity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    user = known.user if known else _first_time(claims, issuer, has_role=bool(roles))
    if not user.is_active:
        raise refused("your account here is switched off")
    if known is None:
        ProviderIdentity.objects.create(user=user, issuer=issuer, subject=subject)
        record_of_person(user, "person.provider_linked", issuer=issuer)
    _give_roles(user, {UUID(project): role for project, role in roles.items()})
    return user


def _first_time(claims: Claims, issuer: str, *, has_role: bool) -> User:
    email = _verified_email(claims)
    lock_until_commit(f"account {email}")
    found = User.objects.filter(email=email).first()
    if found is not None:
        _hand_over(found, issuer)
        return found
    if not has_role:
        raise NotAllowed(
            f"{email} has no access here. Ask your organisation for a group that gives access, or an administrator of a "
            "project to invite you.",
            code="no_role_from_provider",
        )
    user = User(email=email, name=_name(claims))
    user.set_unusable_password()
    user.save()
    return user


def _hand_over(user: User, issuer: str) -> None:
    """Take every other way to sign in from an account that the provider opens for the first time: someone else may have
    made them. Raises `NotAllowed` if the provider has another person for this account.
    """
    if user.provider_identities.filter(issuer=issuer).exists():
        raise NotAllowed(
            f"{user.email} belongs to someone else at the sign-in provider. The operator of this server can change the e-mail "
            "address of the earlier account.",
            code="other_provider_identity",
        )
    lock_person(user)
    if user.has_usable_password():
        record_of_person(user, "person.password_changed", by=BY_PROVIDER, removed=True)
    user.set_unusable_password()
    user.save(update_fields=["password"])
    remove_all_factors(user, by=BY_PROVIDER)
    SignInLink.objects.filter(user=user, used_at=None, project=None).delete()


def _verified_email(claims: Claims) -> str:
    if claims.get("email_verified", settings.OIDC_EMAILS_ARE_VERIFIED) is not True:
        raise refused("it did not verify your e-mail address")
    try:
        return clean_email(str(claims.get("email", "")))
    except InvalidInput as why:
        raise refused("it sent no e-mail address") from why


def _name(claims: Claims) -> str:
    try:
        return clean_name(str(claims.get("name", "")), of="this person")
    except InvalidInput:
        return ""


def _groups(claims: Claims) -> Iterable[str]:
    if settings.OIDC_GROUPS_CLAIM in (claims.get("_claim_names") or {}):  # distributed claims, Core 5.6.2
        raise refused(
            "you are in more groups than it sends. The operator can let it send only those of this application"
        )
    found = claims.get(settings.OIDC_GROUPS_CLAIM, [])
    return (
        [found] if isinstance(found, str) else [str(one) for one in found] if isinstance(found, list) else []
    )


def _give_roles(user: User, roles: Mapping[UUID, str]) -> None:
    """Make the memberships that come from groups what the groups say. Those given by hand stay as they are."""
    lock_person(user)
    existing = set(Project.objects.filter(pk__in=roles).values_list("pk", flat=True))
    roles = {project: role for project, role in roles.items() if project in existing}
    for membership in user.memberships.filter(from_provider=True).select_related("project"):
        role = roles.get(membership.project.pk)
        if membership.role == ADMIN and role != ADMIN:
            withdraw_made_by(membership)
        if role is None:
            membership.delete()
            _record(membership.project_id, "member.removed", user, role=membership.role)
        elif role != membership.role:
            _record(membership.project_id, "member.role_changed", user, before=membership.role, role=role)
            membership.role = role
            membership.save(update_fields=["role"])
    joined = roles.keys() - set(user.memberships.values_list("project_id", flat=True))
    for project_id in joined:
        _record(project_id, "member.joined", user, role=roles[project_id])
    Membership.objects.bulk_create(
        [
            Membership(project_id=project_id, user=user, role=role, from_provider=True)
            for project_id, role in roles.items()
        ],
        ignore_conflicts=True,
    )
    if joined:
        withdraw_reset_links(user)


def _record(project: UUID, action: Action, user: User, **facts: str) -> None:
    record(project, action, "person", user.email, by=BY_PROVIDER, **facts)
