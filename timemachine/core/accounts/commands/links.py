"""One-time links: created for one person, used once."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from timemachine.core.accounts.commands.browsers import sign_out_browsers
from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import Membership, Project, SignInLink, User
from timemachine.core.accounts.queries import belongs_elsewhere
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, NotSignedIn
from timemachine.core.pure.ids import secret, secret_hash
from timemachine.core.row_security import rows_of_every_project

LIFETIMES = {
    SignInLink.SIGN_IN: timedelta(hours=1),
    SignInLink.INVITE: timedelta(days=7),
    SignInLink.RESET: timedelta(hours=1),
}


@transaction.atomic
def make_sign_in_link(
    user: User,
    purpose: str = SignInLink.SIGN_IN,
    *,
    project: Project | None = None,
    role: str | None = None,
    by: User | None = None,
) -> str:
    """Create a link for this person and return its secret, of which only a hash is stored.

    It is valid for one hour, an invitation for seven days. An invitation needs a project and a role.
    """
    made = secret()
    if purpose == SignInLink.SIGN_IN:
        record_of_person(user, "person.sign_in_link_created", by_person=False)
    SignInLink.objects.create(
        user=user,
        purpose=purpose,
        project=project,
        role=role,
        secret_sha256=secret_hash(made),
        created_by=by,
        expires_at=now() + LIFETIMES[purpose],
    )
    return made


def sign_in_url(link_secret: str) -> str:
    """Return the URL of the link with this secret."""
    return f"{settings.PUBLIC_URL}/sign-in/{link_secret}/"


@transaction.atomic
def use_sign_in_link(link_secret: str, *, signed_in: User | None = None) -> SignInLink:
    """Use a link, and join the project that it invites to. Its `user` can then be signed in.

    An invitation does not sign in to an account that someone uses: anyone who creates invitations could otherwise
    open other people's accounts. Such an invitation stays valid until `signed_in` is that person. Raises the same
    `NotFound` for a link that is used, expired or unknown, and `NotSignedIn` if the invited person must sign in first,
    with the address in `facts["email"]`.
    """
    link = _claimed(link_secret)
    if link.purpose == SignInLink.RESET and not settings.PASSWORD_SIGN_IN:
        raise NotSignedIn("Passwords are switched off on this server.", code="passwords_off")
    must_sign_in = is_in_use(link.user) or not settings.PASSWORD_SIGN_IN
    if link.purpose == SignInLink.INVITE and must_sign_in and signed_in != link.user:
        raise NotSignedIn(
            f"{link.user.email} already has an account here. Sign in as {link.user.email} to accept the invitation.",
            code="sign_in_to_accept",
            email=link.user.email,
        )
    link.used_at = now()
    link.save(update_fields=["used_at"])
    if link.purpose == SignInLink.RESET or (link.purpose == SignInLink.INVITE and signed_in != link.user):
        # two people with links must never share an account
        link.user.set_unusable_password()
        link.user.save(update_fields=["password"])
        sign_out_browsers(link.user, by=link.user.email)
    if link.project:
        joining = {"role": str(link.role)}
        _, new = Membership.objects.get_or_create(project=link.project, user=link.user, defaults=joining)
        if new:
            record(
                link.project, "member.joined", "person", link.user.email, by=link.user.email, role=link.role
            )
        withdraw_reset_links(link.user)
    return link


def withdraw_reset_links(user: User) -> None:
    """Delete the unused reset links of a person. An administrator of one project must not be able to open the account of
    someone who has joined another.
    """
    SignInLink.objects.filter(user=user, purpose=SignInLink.RESET, used_at=None).delete()


def lock_person(user: User) -> None:
    """Read this person again, and let others who join the person to a project, or make or use a link to the account, wait
    until this transaction ends. Lock the person before any of the links.
    """
    user.refresh_from_db(from_queryset=User.objects.select_for_update(no_key=True))


@rows_of_every_project()
def is_in_use(user: User) -> bool:
    """Return whether an account has a way to sign in of its own, or already opens a project."""
    return (
        user.has_usable_password()
        or user.provider_identities.exists()
        or user.second_factors.exists()
        or user.memberships.exists()
    )


def _claimed(link_secret: str) -> SignInLink:
    hashed = secret_hash(link_secret)
    found = SignInLink.objects.select_related("user").filter(secret_sha256=hashed).first()
    if found is not None:
        lock_person(found.user)
    # The lock makes a simultaneous second use wait, and then see that the link is used.
    waiting = SignInLink.objects.select_for_update(of=("self",)).select_related(
        "user", "project", "created_by"
    )
    link = waiting.filter(
        secret_sha256=hashed, used_at=None, expires_at__gt=now(), user__is_active=True
    ).first()
    if link is None or _opens_other_projects(link):
        raise NotFound(
            "This link has expired or was already used. Ask an administrator for a new one, or run "
            "`timemachine manage sign_in_link` on the server.",
            code="link_not_valid",
        )
    return link


def _opens_other_projects(link: SignInLink) -> bool:
    """Return whether an administrator made this reset link who does not administer all projects that it opens now."""
    if link.purpose != SignInLink.RESET or link.created_by is None:
        return False
    return belongs_elsewhere(link.user, link.created_by)
