"""Share links."""

from typing import Any

from timemachine.client.connection import Document, given, segment
from timemachine.client.resources.resource import Resource

_SHARES = "/api/shares"
_POLICY = f"{_SHARES}/policy"


class Shares(Resource):
    """Create, preview, list and revoke share links, and read their access logs and the policy."""

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
        """Create a link to a session, replay or comparison. Only this answer contains its `url`.

        `expires_at` is RFC 3339, `through_sequence` the last step of a session to show, `redaction` the id or name of a profile.
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
        """What a link with these terms would show and withhold; no link is created."""
        return self._connection.post(f"{_SHARES}/preview", given(**terms))

    def page(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the links, newest first."""
        return self._connection.get(_SHARES, {"limit": limit, "after": after})

    def revoke(self, link: str) -> Document:
        """Revoke a link permanently."""
        return self._connection.delete(_path(link))

    def opens(self, link: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the access log of a link, newest first; `log` is the result of verifying all of it."""
        return self._connection.get(f"{_path(link)}/opens", {"limit": limit, "after": after})

    def policy(self) -> Document:
        """The rules for links: `forbidden`, `passphrase_required`, `profile_required`, `longest_days` (None: no limit of the project)."""
        return self._connection.get(_POLICY)

    def change_policy(self, **facts: Any) -> Document:
        """Change the given fields of the policy. Requires the scope `admin`."""
        return self._connection.patch(_POLICY, facts)

    def policy_changes(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the changes of the policy, newest first; `log` is the result of verifying all of them."""
        return self._connection.get(f"{_POLICY}/changes", {"limit": limit, "after": after})


def _path(link: str) -> str:
    return f"{_SHARES}/{segment(link, 'share link')}"
