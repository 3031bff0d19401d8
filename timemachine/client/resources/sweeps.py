"""Sweeps of a server: launch one, wait for it."""

from collections.abc import Callable

from timemachine.client import waiting
from timemachine.client.connection import Connection, Document, given, segment


class Sweeps:
    """Launch and follow sweeps."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def launch(self, session: str, grid: Document) -> Document:
        """Launch a sweep in the background: `{"sweep_id": …}`."""
        return self._connection.post(f"/api/sessions/{segment(session, 'session')}/sweeps", given(**grid))

    def get(self, sweep: str) -> Document:
        """How far a sweep is, and the figures of each setting."""
        return self._connection.get(f"/api/sweeps/{segment(sweep, 'sweep')}")

    def wait(self, sweep: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The sweep once it is over; `seen` gets it at every look. A server that is away for a minute is waited for."""
        return waiting.wait(lambda: self.get(sweep), waiting.OVER, seen)
