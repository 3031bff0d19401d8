"""Which program is asking, for which project, and what its key lets it do."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from timemachine.core.accounts.commands.keys import authenticate_key
from timemachine.core.accounts.models import ApiKey, Project
from timemachine.core.pure.errors import NotAllowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A program with a valid key: the project it belongs to, and the name under which what it does is kept."""

    key: ApiKey

    @property
    def project(self) -> Project:
        """The project that every query starts from."""
        return self.key.project

    @property
    def by(self) -> str:
        """Who did it, as it is kept."""
        return f"key {self.key.name}"[:254]


class BearerKey(HttpBearer):
    """`Authorization: Bearer tmk_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller:  # noqa: ARG002  # ninja's form
        """The caller. Raises `NotSignedIn` for a key that is unknown, revoked or expired."""
        return Caller(key=authenticate_key(token))


def caller(request: HttpRequest, scope: str) -> Caller:
    """Who is asking, if the key has the scope. Raises `NotAllowed`."""
    found: Any = request.auth  # type: ignore[attr-defined]  # ninja puts it there
    if not isinstance(found, Caller):
        raise TypeError
    if scope not in found.key.scopes:
        raise NotAllowed(
            f"This key may not do that: it lacks the scope `{scope}`. Make a key with it under Settings.",
            code="scope_missing",
            scope=scope,
            scopes=list(found.key.scopes),
        )
    return found
