"""Kombu's PGMQ transport with a shorter nap (Celery asks it to drain for 2 s and stops only between two such naps), and no pool left behind."""

from typing import Any

from kombu.transport import pgmq

LONGEST_NAP = 0.3


class Transport(pgmq.Transport):
    """PGMQ, but never longer than `LONGEST_NAP` seconds in one wait: an idle worker stops in half a second."""

    def establish_connection(self) -> Any:
        """Connect; where that fails, its pool of connections ends with it, and not at some garbage collection in one of its own threads."""
        try:
            return super().establish_connection()  # type: ignore[no-untyped-call]  # kombu has no types
        except Exception:
            client, self._pgmq_client = self._pgmq_client, None
            if client is not None:
                client.close()
            raise

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> Any:
        nap = LONGEST_NAP if timeout is None else min(timeout, LONGEST_NAP)
        return super().drain_events(connection, timeout=nap, **more)  # type: ignore[no-untyped-call]  # kombu has no types
