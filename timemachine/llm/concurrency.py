"""Limits the model calls that one process makes while clients wait, and frees database connections during long waits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.conf import settings
from django.db import connection

from timemachine.core.pure.errors import Unavailable

TRY_AGAIN_SECONDS = 5


@contextmanager
def call_slot() -> Iterator[None]:
    """Take one of the slots for asks, judgements and model tests while the block runs. Raises `Unavailable` if all are taken."""
    if not call_slots().acquire(blocking=False):
        raise Unavailable(
            f"{settings.ASKS_AT_ONCE} model calls are already running, which is the maximum. Try again in a few seconds.",
            code="too_many_asks",
            retry_after_seconds=TRY_AGAIN_SECONDS,
        )
    try:
        yield
    finally:
        call_slots().release()


@cache
def call_slots() -> threading.BoundedSemaphore:
    """Return the semaphore of this process. Each slot occupies one of its threads."""
    return threading.BoundedSemaphore(settings.ASKS_AT_ONCE)


def release_connection() -> None:
    """Close this thread's database connection before a long wait, unless a transaction is open."""
    if not connection.in_atomic_block:
        connection.close()
