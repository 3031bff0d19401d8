"""Waiting for what a server does in the background; one that is away for a minute is waited for, too."""

import time
from collections.abc import Callable, Container
from typing import Final

from timemachine.client.connection import Document
from timemachine.client.errors import Unreachable

OVER: Final = ("done", "failed", "cancelled")
"""What the server says of a replay, a comparison, a sweep or a run of a suite when nothing more comes."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between two looks
_GRACE: Final = 60.0  # seconds that a server may be away: it is being started again


def wait(
    look: Callable[[], Document],
    over: Container[str],
    seen: Callable[[Document], None],
) -> Document:
    """What `look` gives once its `status` is one of `over`; `seen` gets it at every look. Raises `Unreachable`."""
    pause, away_since = _FIRST_PAUSE, None
    while True:
        try:
            found, away_since = look(), None
        except Unreachable:
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > _GRACE:
                raise
        else:
            seen(found)
            if found["status"] in over:
                return found
        time.sleep(pause)
        pause = min(pause * 1.3, _LONGEST_PAUSE)
