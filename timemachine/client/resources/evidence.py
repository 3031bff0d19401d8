"""Seals and evidence of sessions, replays and comparisons."""

from pathlib import Path

from timemachine.client.connection import Document, given, segment
from timemachine.client.resources.resource import Resource


class Evidence(Resource):
    """Download evidence, read seals and public keys, and set the witness and timestamp authority."""

    def of_session(self, session: str, target: Path) -> None:
        """Write the evidence of a session (id or key) to a file. An existing file is replaced once the new one is complete."""
        self._connection.download(f"/api/sessions/{segment(session, 'session')}/evidence", target)

    def of_replay(self, replay: str, target: Path) -> None:
        """Write the evidence of a finished replay to a file."""
        self._connection.download(f"/api/replays/{segment(replay, 'replay')}/evidence", target)

    def of_comparison(self, comparison: str, target: Path) -> None:
        """Write the evidence of a finished comparison to a file."""
        self._connection.download(f"/api/comparisons/{segment(comparison, 'comparison')}/evidence", target)

    def of_log(self, target: Path) -> None:
        """Write the evidence of the project's log to a file."""
        self._connection.download("/api/evidence", target)

    def seal(self, of: str, id: str) -> Document:  # noqa: A002
        """The seal of a `session`, `replay` or `comparison`, the result of the last check, and whether it is `altered`."""
        return self._connection.get(f"/api/{of}s/{segment(id, of)}/seal")

    def keys(self) -> Document:
        """The public keys of the project, the current one first."""
        return self._connection.get("/api/evidence/keys")

    def anchors(self) -> Document:
        """The witness and the timestamp authority, how much of the log they received, and the key that a witness needs."""
        return self._connection.get("/api/evidence/anchors")

    def set_anchors(self, *, witness: str | None = None, timestamp: str | None = None) -> Document:
        """Set one or both URLs; an empty string removes it."""
        return self._connection.patch("/api/evidence/anchors", given(witness=witness, timestamp=timestamp))
