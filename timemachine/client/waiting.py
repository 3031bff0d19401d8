"""Wait for background work of a server. A server that is unreachable for up to a minute is waited for."""

import time
from collections.abc import Callable
from typing import Final

from timemachine.client.errors import Unreachable

FINISHED: Final = ("done", "failed", "cancelled")
"""The final states of a replay, comparison, sweep, import or run of a suite."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between two requests
_GRACE: Final = 60.0  # seconds that a server may be unreachable, for example during a restart


def wait[State](
    look: Callable[[], State], is_finished: Callable[[State], bool], seen: Callable[[State], None]
) -> State:
    """Call `look` until the work is finished, and return the result; calls `seen` with each one. Raises `Unreachable`."""
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
            if is_finished(found):
                return found
        time.sleep(pause)
        pause = min(pause * 1.3, _LONGEST_PAUSE)
