"""Erasing fields of a server's sessions for good."""

from collections.abc import Sequence

from timemachine.client.connection import Connection, Document, segment


class Erasures:
    """See what an erasure would take away, then confirm it; the key needs the scope `admin`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def prepare(
        self,
        session: str,
        *,
        redaction: str | None = None,
        fields: Sequence[str] = (),
        steps: Sequence[int] = (),
    ) -> Document:
        """What a profile finds, or these fields (of these steps, or of every step); `status` is `looking` or `found`. Nothing is erased."""
        asked = {"redaction": redaction, "fields": list(fields), "steps": list(steps)}
        return self._connection.post(f"/api/sessions/{segment(session, 'session')}/erasures", asked)

    def confirm(self, erasure: str, *, reason: str) -> Document:
        """Erase what was found, for good; the reason stays in the project's log."""
        return self._connection.post(f"{_path(erasure)}/confirm", {"reason": reason})

    def get(self, erasure: str) -> Document:
        """One erasure as it is now."""
        return self._connection.get(_path(erasure))

    def page(self, session: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of a session's erasures, newest first: `items`, and `next` for the page after it."""
        path = f"/api/sessions/{segment(session, 'session')}/erasures"
        return self._connection.get(path, {"limit": limit, "after": after})


def _path(erasure: str) -> str:
    return f"/api/erasures/{segment(erasure, 'erasure')}"
