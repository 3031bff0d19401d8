"""Wait for background work of a server, for an unreachable server up to a minute, and for one that is busy (429)."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import Final

from timemachine.client.errors import Refused, Unreachable

_random = SystemRandom()
TOO_MANY: Final = 429
LONGEST_WAIT: Final = 60.0
"""Total seconds that one request waits for a busy server."""
BUSY: Final = "busy"
"""The code of a refusal before anything was done: any request can be repeated."""
REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_DEFAULT_PAUSE: Final = 1.0  # seconds, without Retry-After
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


def with_retries[T](attempt: Callable[[], T], longest: float = LONGEST_WAIT, *, repeatable: bool = True) -> T:
    """Return the result of `attempt`, repeating it after 429 for at most `longest` seconds. Raises the error of the last attempt.

    An attempt that is not `repeatable` is repeated only if the server reports that it did nothing.
    """
    left = longest
    while True:
        try:
            return attempt()
        except Refused as why:
            if why.status != TOO_MANY or not (repeatable or why.code == BUSY):
                raise
            pause = (_DEFAULT_PAUSE if why.retry_after is None else why.retry_after) * _random.uniform(1, 1.1)
            if pause > left or left <= 0:
                raise
        left -= max(pause, 0.01)
        time.sleep(pause)


def seconds_of(written: str | None, now: datetime | None = None) -> float | None:
    """The seconds in a `Retry-After` header, which can be a number or a date; None if it is neither."""
    text = (written or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
