"""How many calls of models one process makes at a time while somebody waits, and waiting without a database connection."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.conf import settings
from django.db import connection

from timemachine.core.pure.errors import Unavailable

TRY_AGAIN_SECONDS = 5


@contextmanager
def place() -> Iterator[None]:
    """One of the places that there are for asks, judgements and tests. Raises `Unavailable` (`too_many_asks`) where all are taken."""
    if not places().acquire(blocking=False):
        raise Unavailable(
            f"{settings.ASKS_AT_ONCE} calls of models are under way here, which is as many as there may be; try again in a few seconds.",
            code="too_many_asks",
            retry_after_seconds=TRY_AGAIN_SECONDS,
        )
    try:
        yield
    finally:
        places().release()


@cache
def places() -> threading.BoundedSemaphore:
    """The places of this process; each holds one of its threads."""
    return threading.BoundedSemaphore(settings.ASKS_AT_ONCE)


def let_go() -> None:
    """Give this thread's database connection back before a long wait, where nothing of it is open."""
    if not connection.in_atomic_block:
        connection.close()
