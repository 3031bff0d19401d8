"""Back-pressure: so many exporters at once in one process, so that pages are answered while agents pour in."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from timemachine.base.errors import TooManyRequests

AT_ONCE: Final = 5
"""Of the eight threads that a server process has; who finds no place is told so at once, so that the others are left to people."""
_places: Final = BoundedSemaphore(AT_ONCE)


@contextmanager
def one_more() -> Iterator[None]:
    """A place among those who send spans. Raises `TooManyRequests` with when to come again, where there is none."""
    if not _places.acquire(blocking=False):
        raise TooManyRequests(
            "More spans come than this server can take at once; send it again in a second.",
            code="busy",
            retry_after_seconds=1,
        )
    try:
        yield
    finally:
        _places.release()
