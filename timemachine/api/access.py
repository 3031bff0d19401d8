"""Authentication by API key: the calling program, its project and its scopes."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from timemachine.core.accounts.commands.keys import authenticate_key
from timemachine.core.accounts.models import ApiKey, Project
from timemachine.core.audit.caller import identify
from timemachine.core.pure.errors import NotAllowed
from timemachine.core.row_security import rows_of_every_project, see_project


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A program with a valid key: its project, and the name that is stored with everything it does."""

    key: ApiKey

    @property
    def project(self) -> Project:
        """Return the project that every query starts from."""
        return self.key.project

    @property
    def by(self) -> str:
        """Return the name that is stored with what the caller does."""
        return f"key {self.key.name}"[:254]


class BearerKey(HttpBearer):
    """`Authorization: Bearer tmk_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller:  # noqa: ARG002  # ninja's form
        """Return the caller. Raises `NotSignedIn` for a key that is unknown, revoked or expired."""
        found = caller_with(token)
        identify(found.by)
        return found


def caller_with(key: str) -> Caller:
    """Return the caller with this key, and let the request see the rows of its project. Raises `NotSignedIn`."""
    with rows_of_every_project():
        found = Caller(key=authenticate_key(key))
    see_project(found.project.pk)
    return found


def caller(request: HttpRequest, scope: str) -> Caller:
    """Return the caller if its key has the scope. Raises `NotAllowed`."""
    found: Any = request.auth  # type: ignore[attr-defined]  # ninja puts it there
    if not isinstance(found, Caller):
        raise TypeError
    if scope not in found.key.scopes:
        raise NotAllowed(
            f"This key lacks the scope `{scope}`. Create a key with that scope under Settings.",
            code="scope_missing",
            scope=scope,
            scopes=list(found.key.scopes),
        )
    return found
