"""API keys."""

from collections.abc import Sequence

from timemachine.client.connection import Document, segment
from timemachine.client.resources.resource import Resource

_KEYS = "/api/keys"


class Keys(Resource):
    """Create, list and revoke the API keys of the project. Requires the scope `admin`."""

    def create(self, *, name: str, scopes: Sequence[str], expires_at: str | None = None) -> Document:
        """Create a key. Only this answer contains it (`key`). Without `expires_at` (RFC 3339) it never expires."""
        request = {"name": name, "scopes": list(scopes), "expires_at": expires_at}
        return self._connection.post(_KEYS, request)

    def page(self) -> Document:
        """The keys, without their secrets."""
        return self._connection.get(_KEYS)

    def revoke(self, key: str) -> Document:
        """Revoke a key permanently."""
        return self._connection.delete(f"{_KEYS}/{segment(key, 'key')}")
