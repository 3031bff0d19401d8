"""Sweeps of retrieval settings: launch and wait."""

from collections.abc import Callable

from timemachine.client import waiting
from timemachine.client.connection import Document, given, segment
from timemachine.client.resources.resource import Resource


class Sweeps(Resource):
    """Launch and follow sweeps."""

    def launch(self, session: str, grid: Document) -> Document:
        """Launch a sweep in the background: `{"sweep_id": …}`."""
        return self._connection.post(f"/api/sessions/{segment(session, 'session')}/sweeps", given(**grid))

    def get(self, sweep: str) -> Document:
        """The progress of a sweep and the results of each setting."""
        return self._connection.get(f"/api/sweeps/{segment(sweep, 'sweep')}")

    def wait(self, sweep: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the sweep and return it; calls `seen` with each state."""
        return waiting.wait(lambda: self.get(sweep), waiting.FINISHED, seen)
