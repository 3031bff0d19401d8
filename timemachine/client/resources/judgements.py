"""Judgements of recorded answers."""

from timemachine.client.connection import Document, segment
from timemachine.client.resources.resource import Resource


class Judgements(Resource):
    """Let a judge model check a recorded answer; a session is an id or a key."""

    def make(self, session: str, sequence: int, *, model: str) -> Document:
        """Ask the judge model and wait for its verdict."""
        return self._connection.post(_path(session, sequence), {"model": model})

    def estimate(self, session: str, sequence: int, *, model: str) -> Document:
        """The estimated cost of `make`."""
        return self._connection.get(f"{_path(session, sequence)}/estimate", {"model": model})

    def cancel(self, session: str, sequence: int, *, model: str) -> None:
        """Cancel a running judgement of this model on this step. A call that had started may have been billed."""
        for each in self._connection.get(_path(session, sequence))["items"]:
            if each["state"] == "asking" and each["model"] == model:
                self._connection.post(f"{_path(session, sequence)}/{each['id']}/cancel")


def _path(session: str, sequence: int) -> str:
    return f"/api/sessions/{segment(session, 'session')}/actions/{sequence}/judgements"
