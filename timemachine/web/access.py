"""Who is asking, for which project. Every view starts here: `access = of(request)`."""

import ipaddress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from timemachine.core.accounts import queries
from timemachine.core.accounts.models import ADMIN, OPERATOR, VIEWER, Membership, Project, User
from timemachine.core.pure.errors import NotAllowed, NotFound, NotSignedIn

ROLE_WORDS = {VIEWER: "a viewer", OPERATOR: "an operator", ADMIN: "an administrator"}
_KEPT_AS = "timemachine.access"
_PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A signed-in person, in one of the projects they belong to."""

    user: User
    membership: Membership
    memberships: tuple[Membership, ...]

    @property
    def project(self) -> Project:
        """The current project: what every query starts from."""
        return self.membership.project

    @property
    def role(self) -> str:
        """The role in the current project."""
        return self.membership.role

    def may(self, role: str) -> bool:
        """Whether this person's role includes the other."""
        return self.membership.may(role)

    @property
    def administers(self) -> bool:
        """Whether this person decides about members and keys."""
        return self.may(ADMIN)

    def require(self, role: str) -> None:
        """Raise `NotAllowed` where this person's role does not include the other."""
        if not self.may(role):
            raise NotAllowed(
                f"Only {ROLE_WORDS[role]} may do this, and you are {ROLE_WORDS[self.role]} in {self.project.name}. "
                "Ask an administrator of the project.",
                role=self.role,
                required=role,
            )


def of(request: HttpRequest) -> Access:
    """Who is asking, for which project. Raises `NotSignedIn`, or `NotAllowed` for somebody without any project."""
    kept = request.META.get(_KEPT_AS)
    if isinstance(kept, Access):
        return kept
    request.META[_KEPT_AS] = found = _of(request)
    return found


def signed_in(request: HttpRequest) -> User:
    """The person who is signed in, of whatever project or none. Raises `NotSignedIn`."""
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn("Please sign in first.")
    return user


def choose_project(request: HttpRequest, project_id: str) -> Project:
    """Make one of the person's own projects the current one. Raises `NotFound` for any other."""
    for membership in queries.memberships_of(signed_in(request)):
        if str(membership.project.pk) == project_id:
            request.session[_PROJECT] = project_id
            return membership.project
    raise NotFound("There is no such project among yours.", code="no_such_project")


def address_of(request: HttpRequest) -> str | None:
    """Where the request came from; behind a proxy, what the proxy saw. None where the server does not know."""
    found = request.META.get("REMOTE_ADDR", "")
    if settings.SECURE_PROXY_SSL_HEADER:  # set by BEHIND_PROXY; only the last entry is the proxy's own
        found = request.META.get("HTTP_X_FORWARDED_FOR", found).rsplit(",", 1)[-1].strip()
    try:
        return str(ipaddress.ip_address(found))
    except ValueError:
        return None


def project_context(request: HttpRequest) -> dict[str, Any]:
    """What every template knows: `access` and `project`, both looked up only where they are used, or None."""
    access = SimpleLazyObject(lambda: _or_none(request))
    return {
        "access": access,
        "project": SimpleLazyObject(lambda: access.project if access else None),
    }


def _of(request: HttpRequest) -> Access:
    user = signed_in(request)
    memberships = tuple(queries.memberships_of(user))
    if not memberships:
        raise NotAllowed(
            "You are signed in, but you belong to no project. Ask an administrator to invite you.",
            code="no_project",
        )
    chosen = request.session.get(_PROJECT)
    current = next((one for one in memberships if str(one.project.pk) == chosen), memberships[0])
    return Access(user=user, membership=current, memberships=memberships)


def _or_none(request: HttpRequest) -> Access | None:
    try:
        return of(request)
    except (NotSignedIn, NotAllowed):
        return None
