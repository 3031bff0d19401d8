"""API keys of a server."""

from collections.abc import Sequence

from timemachine.client.connection import Connection, Document, segment

_KEYS = "/api/keys"


class Keys:
    """Make, list and revoke the project's keys; this needs a key with the scope `admin`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, *, name: str, scopes: Sequence[str], expires_at: str | None = None) -> Document:
        """A new key; the key itself (`key`) is in this answer and nowhere else. Without `expires_at` (RFC 3339) it never expires."""
        asked = {"name": name, "scopes": list(scopes), "expires_at": expires_at}
        return self._connection.post(_KEYS, asked)

    def page(self) -> Document:
        """The keys, without their secrets."""
        return self._connection.get(_KEYS)

    def revoke(self, key: str) -> Document:
        """End a key for good."""
        return self._connection.delete(f"{_KEYS}/{segment(key, 'key')}")
