"""Pause coverage where it costs time and measures none of our code."""

from collections.abc import Generator
from contextlib import contextmanager

import coverage
import pytest

MEASURED = "COVERAGE_PROCESS_CONFIG"


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


@contextmanager
def programs_unmeasured() -> Generator[None]:
    """Start programs without coverage during the block: it takes longer to start than most of them run."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(MEASURED, raising=False)
        yield
