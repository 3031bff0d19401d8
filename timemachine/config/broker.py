"""Kombu's PGMQ transport with a shorter nap: Celery asks it to drain for 2 s and stops only between two such naps."""

from typing import Any

from kombu.transport import pgmq

LONGEST_NAP = 0.3


class Transport(pgmq.Transport):
    """PGMQ, but never longer than `LONGEST_NAP` seconds in one wait: an idle worker stops in half a second."""

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> Any:
        nap = LONGEST_NAP if timeout is None else min(timeout, LONGEST_NAP)
        return super().drain_events(connection, timeout=nap, **more)  # type: ignore[no-untyped-call]  # kombu has no types
