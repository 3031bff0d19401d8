"""Judgements of recorded answers on a server."""

from timemachine.client.connection import Connection, Document, segment


class Judgements:
    """Let a model judge a recorded answer; every session is a uuid or a key."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def make(self, session: str, sequence: int, *, model: str) -> Document:
        """Ask the model, and wait for what it says."""
        return self._connection.post(_path(session, sequence), {"model": model})

    def estimate(self, session: str, sequence: int, *, model: str) -> Document:
        """About what that would cost; nothing is asked."""
        return self._connection.get(f"{_path(session, sequence)}/estimate", {"model": model})

    def cancel(self, session: str, sequence: int, *, model: str) -> None:
        """End what is under way of this model on this step; what it had begun may have been billed."""
        for each in self._connection.get(_path(session, sequence))["items"]:
            if each["state"] == "asking" and each["model"] == model:
                self._connection.post(f"{_path(session, sequence)}/{each['id']}/cancel")


def _path(session: str, sequence: int) -> str:
    return f"/api/sessions/{segment(session, 'session')}/actions/{sequence}/judgements"
