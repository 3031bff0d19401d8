"""When a server that says "too many" is asked again: when it says so, and not for longer than somebody waits."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from timemachine.client.errors import Refused

TOO_MANY: Final = 429
LONGEST_WAIT: Final = 60.0
"""Seconds that one request waits in all for a server that has too much to do."""
BUSY: Final = "busy"
"""The code of a refusal before anything was done: whatever was asked may be asked again."""
REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_UNSAID: Final = 1.0  # seconds, where the answer does not say when to come again


def patiently[T](attempt: Callable[[], T], longest: float = LONGEST_WAIT, *, repeatable: bool = True) -> T:
    """What the attempt gives; one that is refused with 429 is made again when the server said. Raises what the last one raised.

    One that is not repeatable is made again only where the server says that it did nothing.
    """
    left = longest
    while True:
        try:
            return attempt()
        except Refused as why:
            if why.status != TOO_MANY or not (repeatable or why.code == BUSY):
                raise
            pause = (_UNSAID if why.retry_after is None else why.retry_after) * random.uniform(1, 1.1)  # noqa: S311
            if pause > left or left <= 0:
                raise
        left -= max(pause, 0.01)
        time.sleep(pause)


def seconds_of(written: str | None, now: datetime | None = None) -> float | None:
    """What `Retry-After` says: seconds, or a date; None where it says nothing that can be read."""
    text = (written or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
