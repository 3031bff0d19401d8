"""Wait for another thread or process."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until a condition holds. Fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"the condition did not hold within {seconds:g} s"
        time.sleep(0.02)
