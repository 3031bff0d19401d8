"""Wait for another thread or process."""

import time
from collections.abc import Callable
from typing import Final

_SHORTEST: Final = 0.02
_LONGEST: Final = 0.2
_SHARE: Final = 16


def wait_until(true: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until a condition holds. Fail after `seconds`.

    The longer it takes, the less often it is checked: a check may be a request to a busy product.
    """
    began = time.monotonic()
    while not true():
        waited = time.monotonic() - began
        assert waited < seconds, f"the condition did not hold within {seconds:g} s"
        time.sleep(min(max(_SHORTEST, waited / _SHARE), _LONGEST))
