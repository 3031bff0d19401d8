"""Permanent erasure of fields of sessions."""

from collections.abc import Sequence

from timemachine.client.connection import Document, segment
from timemachine.client.resources.resource import Resource


class Erasures(Resource):
    """Preview an erasure, then confirm it. Requires the scope `admin`."""

    def prepare(
        self,
        session: str,
        *,
        redaction: str | None = None,
        fields: Sequence[str] = (),
        steps: Sequence[int] = (),
    ) -> Document:
        """Preview what a profile matches, or these fields of these steps (default: every step); `status` is `looking` or `found`."""
        request = {"redaction": redaction, "fields": list(fields), "steps": list(steps)}
        return self._connection.post(f"/api/sessions/{segment(session, 'session')}/erasures", request)

    def confirm(self, erasure: str, *, reason: str) -> Document:
        """Permanently erase what the preview shows; the reason is stored in the project's log."""
        return self._connection.post(f"{_path(erasure)}/confirm", {"reason": reason})

    def get(self, erasure: str) -> Document:
        """An erasure in its current state."""
        return self._connection.get(_path(erasure))

    def page(self, session: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the erasures of a session, newest first."""
        path = f"/api/sessions/{segment(session, 'session')}/erasures"
        return self._connection.get(path, {"limit": limit, "after": after})


def _path(erasure: str) -> str:
    return f"/api/erasures/{segment(erasure, 'erasure')}"
