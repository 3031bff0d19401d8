"""Pause coverage where it costs time and measures none of our code."""

from collections.abc import Generator
from contextlib import contextmanager

import coverage


@contextmanager
def unmeasured() -> Generator[None]:
    """Pause coverage of this process during the block. Programs that it starts are still measured."""
    measuring = coverage.Coverage.current()
    if measuring is None:
        yield
        return
    measuring.stop()
    try:
        yield
    finally:
        measuring.start()
