"""Projects and their API keys as the API takes and returns them."""

from typing import Literal

from pydantic import AwareDatetime, StrictBool

from timemachine.core.pure.schemas import Page, Schema, Strict

Scope = Literal["read", "record", "run", "share", "admin"]


class ProjectOut(Schema):
    """The project of a key, what the key can do, and the server's version."""

    id: str
    name: str
    scopes: list[Scope]
    version: str


class KeyIn(Strict):
    """An API key to create. Without `expires_at` it expires after 90 days, unless `never_expires` is true."""

    name: str
    scopes: list[str]
    expires_at: AwareDatetime | None = None
    never_expires: StrictBool = False


class KeyOut(Schema):
    """An API key without its secret."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class KeyCreated(KeyOut):
    """A new API key; `key` is its secret, which is shown only once."""

    key: str


class KeyPage(Page[KeyOut]):
    """The API keys of a project."""
