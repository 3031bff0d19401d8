"""Notes on the steps of a server's sessions."""

from timemachine.client.connection import Connection, Document, segment


class Notes:
    """Pin sentences to steps, list and delete them; every session is a uuid or a key."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, session: str, sequence: int, *, text: str) -> Document:
        """A new note on a step; the recorded session is not changed."""
        return self._connection.post(_path(session), {"sequence": sequence, "text": text})

    def page(self, session: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of a session's notes by their steps: `items`, and `next` for the page after it."""
        return self._connection.get(_path(session), {"limit": limit, "after": after})

    def delete(self, session: str, note: str) -> Document:
        """Take a note's text away; who deleted it and when is kept."""
        return self._connection.delete(f"{_path(session)}/{segment(note, 'note')}")


def _path(session: str) -> str:
    return f"/api/sessions/{segment(session, 'session')}/notes"
