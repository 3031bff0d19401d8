"""Throttling: after too many recent failures, the next try has to wait."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingDelay:
    """So many failures are free; each further one doubles the delay, from 1 second to the longest. As time passes without
    a failure, one after the other is forgotten.
    """

    free: int
    forgets_one_every: timedelta
    longest: timedelta = timedelta(minutes=15)

    @property
    def most(self) -> int:
        """Return how many failures are remembered: as many as it takes to get to the longest delay."""
        return self.free + math.ceil(math.log2(self.longest.total_seconds())) + 1

    @property
    def all_forgotten_after(self) -> timedelta:
        """Return after which time without a failure nothing is left to remember."""
        return self.forgets_one_every * self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """How many failures are remembered, and when the last one happened. One that is partly forgotten still counts."""

    count: float
    last_at: datetime


def add_failure(before: Failures | None, delay: GrowingDelay, now: datetime) -> Failures:
    """Return the failures including one that happens now."""
    left = 0.0
    if before is not None:
        forgotten = max(now - before.last_at, timedelta(0)) / delay.forgets_one_every
        left = max(0.0, before.count - forgotten)
    return Failures(count=min(left + 1, delay.most), last_at=now)


def seconds_of_delay(failures: Failures | None, delay: GrowingDelay, now: datetime) -> int:
    """Return how many whole seconds the next try has to wait; 0 for none."""
    doubled = math.ceil(failures.count) - delay.free if failures else -1
    if failures is None or doubled < 0:
        return 0
    until = failures.last_at + min(timedelta(seconds=2**doubled), delay.longest)
    return seconds_until(until, now) if until > now else 0


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
