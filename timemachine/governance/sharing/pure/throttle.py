"""How long the next try has to wait after several failures. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most that many failures in any window of that length."""

    most: int
    window: timedelta


def seconds_to_wait(failures: Iterable[datetime], limit: Limit, now: datetime) -> int:
    """Return how many whole seconds the next try has to wait; 0 for none. Failures can be in any order."""
    recent = sorted((at for at in failures if at > now - limit.window), reverse=True)
    if len(recent) < limit.most:
        return 0
    return seconds_until(recent[limit.most - 1] + limit.window, now)


def seconds_until(until: datetime, now: datetime) -> int:
    """Return the whole seconds until then, at least one."""
    return max(1, math.ceil((until - now).total_seconds()))
