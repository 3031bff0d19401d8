"""Queries about accounts, each starting from a person or a project."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet

from timemachine.core.accounts.browser_sessions import is_over
from timemachine.core.accounts.models import (
    ADMIN,
    ApiKey,
    BrowserSession,
    Membership,
    Project,
    SecondFactor,
    SignInLink,
    User,
)
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.row_security import rows_of_every_project

SOON = timedelta(days=14)


@rows_of_every_project()
def memberships_of(user: User) -> list[Membership]:
    """Return a person's projects and roles, in the order of joining."""
    return list(user.memberships.select_related("project").order_by("created_at", "pk"))


@rows_of_every_project()
def belongs_elsewhere(user: User, by: User) -> bool:
    """Return whether a person also belongs to a project that `by` does not administer."""
    administered = by.memberships.filter(role=ADMIN)
    return user.memberships.exclude(project__memberships__in=administered).exists()


def members_of(project: Project) -> QuerySet[Membership]:
    """Return the members of a project with their users and whether they have a second factor, in the order of joining."""
    has = Exists(SecondFactor.objects.filter(user=OuterRef("user")))
    found = project.memberships.select_related("user").annotate(has_second_factor=has)
    return found.order_by("created_at", "pk")


def member(project: Project, membership_id: int) -> Membership:
    """Return one member of this project. Raises `NotFound`."""
    found = members_of(project).filter(pk=membership_id).first()
    if found is None:
        raise NotFound("This project has no such member.", code="no_such_member")
    return found


def invitations_of(project: Project) -> QuerySet[SignInLink]:
    """Return the invitations to a project that can still be accepted, newest first."""
    waiting = project.invitations.filter(used_at=None, expires_at__gt=now())
    return waiting.select_related("user", "created_by").order_by("-created_at", "-pk")


def invitation(project: Project, link_id: int) -> SignInLink:
    """Return one invitation to this project that can still be accepted. Raises `NotFound`."""
    found = invitations_of(project).filter(pk=link_id).first()
    if found is None:
        raise NotFound("This project has no such invitation.", code="no_such_invitation")
    return found


def keys_of(project: Project) -> QuerySet[ApiKey]:
    """Return the API keys of a project, newest first, including revoked and expired ones."""
    return project.api_keys.select_related("created_by").order_by("-created_at", "-pk")


def keys_that_expire_soon(project: Project) -> QuerySet[ApiKey]:
    """Return the valid keys that expire within 14 days."""
    moment = now()
    return project.api_keys.filter(revoked_at=None, expires_at__gt=moment, expires_at__lte=moment + SOON)


def key(project: Project, key_id: str) -> ApiKey:
    """Return one API key of this project. Raises `NotFound`."""
    found = keys_of(project).filter(pk=key_id).first() if key_id.isalnum() else None
    if found is None:
        raise NotFound("This project has no such API key. See the list of keys.", code="no_such_key")
    return found


def browsers_of(user: User) -> list[BrowserSession]:
    """Return the browsers in which this person is signed in, the last used first."""
    rows = user.browsers.filter(expire_date__gt=now()).order_by("-seen_at", "-signed_in_at")
    return [row for row in rows if not is_over(row)]


def browser(user: User, browser_id: str) -> BrowserSession:
    """Return the browser of this person that has this public id. Raises `NotFound`."""
    found = next((one for one in browsers_of(user) if one.public_id == browser_id), None)
    if found is None:
        raise NotFound("This browser is already signed out.", code="no_such_browser")
    return found


def first_project() -> Project | None:
    """Return the oldest project, which the first start created."""
    return Project.objects.order_by("created_at", "pk").first()


def first_administrator() -> User | None:
    """Return the longest-serving administrator, or None before the first start."""
    first = Membership.objects.filter(role=ADMIN, user__is_active=True).order_by("created_at", "pk")
    found = first.select_related("user").first()
    return found.user if found else None


def name_of(email: str) -> str | None:
    """Return the name of the person with exactly this e-mail address; None if there is none."""
    return User.objects.filter(email=email).values_list("name", flat=True).first()


def person(email: str) -> User:
    """Return the person with this e-mail address, in any case. Raises `NotFound`."""
    found = User.objects.filter(email=email.strip().lower()).first()
    if found is None:
        raise NotFound(f"No member has the e-mail address {email.strip()}.", code="no_such_person")
    return found
