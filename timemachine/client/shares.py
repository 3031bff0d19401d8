"""Share links of a server."""

from timemachine.client.connection import Connection, Document, given, segment

_SHARES = "/api/shares"


class Shares:
    """Create, list and revoke share links."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        *,
        target_type: str,
        target_id: str,
        expires_at: str | None = None,
        passphrase: str | None = None,
        max_opens: int | None = None,
        evidence_only: bool | None = None,
        redaction: str | None = None,
        label: str | None = None,
    ) -> Document:
        """A new link to a session, replay or comparison; its address (`url`) is in this answer and nowhere else. `expires_at` is RFC 3339,

        `redaction` the id or name of the profile by which it withholds."""
        return self._connection.post(
            _SHARES,
            given(
                target_type=target_type,
                target_id=target_id,
                expires_at=expires_at,
                passphrase=passphrase,
                max_opens=max_opens,
                evidence_only=evidence_only,
                redaction=redaction,
                label=label,
            ),
        )

    def page(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of the links, newest first."""
        return self._connection.get(_SHARES, {"limit": limit, "after": after})

    def revoke(self, link: str) -> Document:
        """End a link for good."""
        return self._connection.delete(f"{_SHARES}/{segment(link, 'share link')}")
