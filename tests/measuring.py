"""Where coverage would only cost time: it slows down all that a process does, and here nothing of ours is done in it."""

from collections.abc import Generator
from contextlib import contextmanager

import coverage


@contextmanager
def unmeasured() -> Generator[None]:
    """Inside, coverage does not watch this process; what is started from it is measured as it would be."""
    measuring = coverage.Coverage.current()
    if measuring is None:
        yield
        return
    measuring.stop()
    try:
        yield
    finally:
        measuring.start()
