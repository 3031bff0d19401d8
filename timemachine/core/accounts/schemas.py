"""Projects and their API keys as the API takes and returns them."""

from typing import Any, Literal, Self, cast

from pydantic import AwareDatetime

from timemachine.core.accounts.models import ApiKey
from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Page, Schema, Strict

Scope = Literal["read", "record", "run", "share", "admin"]


class ProjectOut(Schema):
    """The project of a key, what the key can do, and the server's version."""

    id: str
    name: str
    scopes: list[Scope]
    version: str


class KeyIn(Strict):
    """An API key to create."""

    name: str
    scopes: list[str]
    expires_at: AwareDatetime | None = None


class KeyOut(Schema):
    """An API key without its secret."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None

    @classmethod
    def of(cls, row: ApiKey, **more: Any) -> Self:
        """The key, with the fields that a subclass has besides."""
        found = cls.model_construct(
            id=row.id,
            name=row.name,
            scopes=cast("list[Scope]", row.scopes),
            created_at=written(row.created_at),
            expires_at=written(row.expires_at),
            revoked_at=written(row.revoked_at),
            last_used_at=written(row.last_used_at),
            **more,
        )
        return cast("Self", found)


class KeyCreated(KeyOut):
    """A new API key; `key` is its secret, which is shown only once."""

    key: str


class KeyPage(Page[KeyOut]):
    """The API keys of a project."""
