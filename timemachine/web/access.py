"""The signed-in person and their current project, and the decorators that hand them to a view."""

import ipaddress
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts import queries
from timemachine.core.accounts.models import ADMIN, OPERATOR, VIEWER, Membership, Project, User
from timemachine.core.audit.caller import identify
from timemachine.core.pure.errors import NotAllowed, NotFound, NotSignedIn
from timemachine.core.row_security import see_project

ROLE_WORDS = {VIEWER: "a viewer", OPERATOR: "an operator", ADMIN: "an administrator"}
_STORED_AS = "timemachine.access"
_PROJECT = "project"
_SECOND_FACTOR = "second_factor"
_READS: Final = ("GET", "HEAD")

type View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
type MemberView[**P] = Callable[Concatenate[HttpRequest, Access, P], HttpResponseBase]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A signed-in person in one of their projects."""

    user: User
    membership: Membership
    memberships: tuple[Membership, ...]

    @property
    def project(self) -> Project:
        """Return the current project, where every query starts."""
        return self.membership.project

    @property
    def role(self) -> str:
        return self.membership.role

    def may(self, role: str) -> bool:
        """Return whether this person's role includes the given one."""
        return self.membership.may(role)

    @property
    def operates(self) -> bool:
        """Return whether this person can record, run and share."""
        return self.may(OPERATOR)

    @property
    def administers(self) -> bool:
        """Return whether this person can manage members and keys."""
        return self.may(ADMIN)

    def require(self, role: str) -> None:
        """Raise `NotAllowed` if this person's role does not include the given one."""
        if not self.may(role):
            raise NotAllowed(
                f"Only {ROLE_WORDS[role]} can do this, and you are {ROLE_WORDS[self.role]} in {self.project.name}. "
                "Ask an administrator of the project.",
                role=self.role,
                required=role,
            )


def get_view[**P](role: str = VIEWER, *, fresh: bool = False) -> Callable[[MemberView[P]], View[P]]:
    """Decorate a page for members with this role; the view gets their `Access`. A browser never stores a `fresh` page."""
    return _member_view(_READS, role, fresh=fresh)


def post_view[**P](role: str = VIEWER) -> Callable[[MemberView[P]], View[P]]:
    """Decorate a view that only accepts a submitted form."""
    return _member_view(("POST",), role, fresh=True)


def form_view[**P](role: str = VIEWER, *, fresh: bool = False) -> Callable[[MemberView[P]], View[P]]:
    """Decorate a page with a form that is submitted to the same URL."""
    return _member_view((*_READS, "POST"), role, fresh=fresh)


def of(request: HttpRequest) -> Access:
    """Return the signed-in person and their project. Raises `NotSignedIn`, or `NotAllowed` for a person without a project."""
    stored = request.META.get(_STORED_AS)
    found = stored if isinstance(stored, Access) else _of(request)
    request.META[_STORED_AS] = found
    see_project(found.project.pk)
    return found


def signed_in(request: HttpRequest) -> User:
    """Return the signed-in person, with or without a project. Raises `NotSignedIn`."""
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn("Please sign in first.")
    identify(user.email)
    return user


def switch_project(request: HttpRequest, project_id: str) -> Project:
    """Switch to one of the person's own projects. Raises `NotFound` for any other."""
    for membership in queries.memberships_of(signed_in(request)):
        if str(membership.project.pk) == project_id:
            request.session[_PROJECT] = project_id
            return membership.project
    raise NotFound("There is no such project, or you are not a member of it.", code="no_such_project")


def note_second_factor(request: HttpRequest, *, shown: bool = True) -> None:
    """Note whether the person of this browser has shown a second factor."""
    request.session[_SECOND_FACTOR] = shown


def showed_second_factor(request: HttpRequest) -> bool:
    """Return whether the person of this browser has shown a second factor."""
    return bool(request.session.get(_SECOND_FACTOR))


def address_of(request: HttpRequest) -> str | None:
    """Return the client's IP address, as seen by the proxy if there is one; None if unknown."""
    found = request.META.get("REMOTE_ADDR", "")
    if settings.SECURE_PROXY_SSL_HEADER:  # set by BEHIND_PROXY; only the last entry is the proxy's own
        found = request.META.get("HTTP_X_FORWARDED_FOR", found).rsplit(",", 1)[-1].strip()
    try:
        return str(ipaddress.ip_address(found))
    except ValueError:
        return None


def project_context(request: HttpRequest) -> dict[str, object]:
    """Return `access` and `project` for every template, both evaluated lazily, or None."""
    access = SimpleLazyObject(lambda: _or_none(request))
    return {
        "access": access,
        "project": SimpleLazyObject(lambda: access.project if access else None),
    }


def _member_view[**P](
    methods: Collection[str], role: str, *, fresh: bool
) -> Callable[[MemberView[P]], View[P]]:
    def decorate(view: MemberView[P]) -> View[P]:
        @require_http_methods(methods)
        @wraps(view)
        def visit(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            access = of(request)
            access.require(role)
            return view(request, access, *args, **kwargs)

        return never_cache(visit) if fresh else visit

    return decorate


def _of(request: HttpRequest) -> Access:
    user = signed_in(request)
    memberships = tuple(queries.memberships_of(user))
    if not memberships:
        raise NotAllowed(
            "You are signed in but are not a member of any project. Ask an administrator to invite you.",
            code="no_project",
        )
    chosen = request.session.get(_PROJECT)
    current = next((one for one in memberships if str(one.project.pk) == chosen), memberships[0])
    if current.project.needs_second_factor and not showed_second_factor(request):
        raise NotAllowed(
            f"{current.project} is only for members with a second factor. Set up yours first.",
            code="needs_second_factor",
        )
    return Access(user=user, membership=current, memberships=memberships)


def _or_none(request: HttpRequest) -> Access | None:
    try:
        return of(request)
    except (NotSignedIn, NotAllowed):
        return None
