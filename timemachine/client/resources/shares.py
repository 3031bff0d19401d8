"""Share links of a server."""

from typing import Any

from timemachine.client.connection import Connection, Document, given, segment

_SHARES = "/api/shares"
_POLICY = f"{_SHARES}/policy"


class Shares:
    """Create, preview, list and revoke share links, read their access logs, and say what the project allows of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        *,
        target_type: str,
        target_id: str,
        through_sequence: int | None = None,
        expires_at: str | None = None,
        passphrase: str | None = None,
        max_opens: int | None = None,
        evidence_only: bool | None = None,
        redaction: str | None = None,
        label: str | None = None,
    ) -> Document:
        """A new link to a session, replay or comparison; its address (`url`) is in this answer and nowhere else.

        `expires_at` is RFC 3339, `through_sequence` the last step of a session that it shows, `redaction` the id or name of the profile
        by which it withholds.
        """
        return self._connection.post(
            _SHARES,
            given(
                target_type=target_type,
                target_id=target_id,
                through_sequence=through_sequence,
                expires_at=expires_at,
                passphrase=passphrase,
                max_opens=max_opens,
                evidence_only=evidence_only,
                redaction=redaction,
                label=label,
            ),
        )

    def preview(self, **terms: Any) -> Document:
        """What `create` would make of the same terms: what it would show, and how much it would withhold. No link is made."""
        return self._connection.post(f"{_SHARES}/preview", given(**terms))

    def page(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of the links, newest first."""
        return self._connection.get(_SHARES, {"limit": limit, "after": after})

    def revoke(self, link: str) -> Document:
        """End a link for good."""
        return self._connection.delete(_path(link))

    def opens(self, link: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of a link's access log, newest first, with what reading all of it again found as `log`."""
        return self._connection.get(f"{_path(link)}/opens", {"limit": limit, "after": after})

    def policy(self) -> Document:
        """What the project allows of its links: `forbidden`, `passphrase_required`, `profile_required`, `longest_days` (None: as long as any may live)."""
        return self._connection.get(_POLICY)

    def change_policy(self, **facts: Any) -> Document:
        """Change what is given of the policy; the rest stays. The key needs the scope `admin`."""
        return self._connection.patch(_POLICY, facts)

    def policy_changes(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of who changed the policy, newest first, with what reading all of that log again found as `log`."""
        return self._connection.get(f"{_POLICY}/changes", {"limit": limit, "after": after})


def _path(link: str) -> str:
    return f"{_SHARES}/{segment(link, 'share link')}"
