"""When the next try has to wait: after so many that failed in a while. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most so many failures in any window of that length."""

    most: int
    window: timedelta


def seconds_to_wait(failures: Iterable[datetime], limit: Limit, now: datetime) -> int:
    """How long until the next try, in whole seconds; 0 for at once. Failures come in any order."""
    recent = sorted((at for at in failures if at > now - limit.window), reverse=True)
    if len(recent) < limit.most:
        return 0
    return seconds_left(recent[limit.most - 1] + limit.window, now)


def seconds_left(until: datetime, now: datetime) -> int:
    """Whole seconds until then, at least one."""
    return max(1, math.ceil((until - now).total_seconds()))
