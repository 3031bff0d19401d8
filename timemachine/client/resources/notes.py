"""Notes on steps of sessions."""

from timemachine.client.connection import Document, segment
from timemachine.client.resources.resource import Resource


class Notes(Resource):
    """Add, list and delete notes; a session is an id or a key."""

    def add(self, session: str, sequence: int, *, text: str) -> Document:
        """Add a note to a step. The record does not change."""
        return self._connection.post(_path(session), {"sequence": sequence, "text": text})

    def page(self, session: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the notes of a session, by step."""
        return self._connection.get(_path(session), {"limit": limit, "after": after})

    def delete(self, session: str, note: str) -> Document:
        """Delete the text of a note; who deleted it and when stays."""
        return self._connection.delete(f"{_path(session)}/{segment(note, 'note')}")


def _path(session: str) -> str:
    return f"/api/sessions/{segment(session, 'session')}/notes"
