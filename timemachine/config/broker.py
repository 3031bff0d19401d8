"""Kombu's PGMQ transport with shorter waits, and without leaked connection pools.

Celery drains it for 2 s at a time and can stop only in between.
"""

from typing import Any

from kombu.transport import pgmq

LONGEST_WAIT = 0.3


class Transport(pgmq.Transport):
    """PGMQ with waits of at most `LONGEST_WAIT` seconds, so that an idle worker stops within half a second."""

    def establish_connection(self) -> Any:
        """Connect. If that fails, close the pool now, and not during a garbage collection in one of its threads."""
        try:
            return super().establish_connection()  # type: ignore[no-untyped-call]  # kombu has no types
        except Exception:  # whatever failed, the pool must be closed
            client, self._pgmq_client = self._pgmq_client, None
            if client is not None:
                client.close()
            raise

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> Any:
        wait = LONGEST_WAIT if timeout is None else min(timeout, LONGEST_WAIT)
        return super().drain_events(connection, timeout=wait, **more)  # type: ignore[no-untyped-call]  # kombu has no types
