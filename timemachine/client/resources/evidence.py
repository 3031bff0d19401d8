"""Seals and evidence of a server's sessions, replays and comparisons."""

from pathlib import Path

from timemachine.client.connection import Connection, Document, given, segment


class Evidence:
    """Fetch bundles, read seals, have them checked, and list the keys that sign."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_session(self, session: str, target: Path) -> None:
        """Write the bundle of a session (a uuid or a key) to a file; a file that is there stays until the new one is whole."""
        self._connection.download(f"/api/sessions/{segment(session, 'session')}/evidence", target)

    def of_replay(self, replay: str, target: Path) -> None:
        """Write the bundle of a replay that is over to a file."""
        self._connection.download(f"/api/replays/{segment(replay, 'replay')}/evidence", target)

    def of_comparison(self, comparison: str, target: Path) -> None:
        """Write the bundle of a comparison that is over to a file."""
        self._connection.download(f"/api/comparisons/{segment(comparison, 'comparison')}/evidence", target)

    def of_log(self, target: Path) -> None:
        """Write the bundle of the project's log to a file."""
        self._connection.download("/api/evidence", target)

    def seal(self, of: str, id: str) -> Document:  # noqa: A002
        """How far a `session`, `replay` or `comparison` is sealed, what the last check found, and whether it is `altered`."""
        return self._connection.get(f"/api/{of}s/{segment(id, of)}/seal")

    def keys(self) -> Document:
        """The project's public keys, the one in use first."""
        return self._connection.get("/api/evidence/keys")

    def anchors(self) -> Document:
        """The project's witness and timestamp authority, how much of the log they took, and the key that a witness needs."""
        return self._connection.get("/api/evidence/anchors")

    def set_anchors(self, *, witness: str | None = None, timestamp: str | None = None) -> Document:
        """Set one or both addresses; an empty one tells nobody any more."""
        return self._connection.patch("/api/evidence/anchors", given(witness=witness, timestamp=timestamp))
