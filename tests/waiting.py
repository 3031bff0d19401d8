"""Waiting for what another thread or process does, and no longer than that takes."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until it is so; a failure where it is not within so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"it did not come about within {seconds:g} s"
        time.sleep(0.02)
