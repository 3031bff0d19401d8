"""How often a pattern occurred per day or week, and the windows in which a rule counts. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

from timemachine.core.pure.numbers import counted

DAYS: Final = 31
"""Patterns within at most this many days are counted by day, others by week."""
WEEKS: Final = 52
_WEEK: Final = 7
_LASTS: Final = {"day": 1, "week": _WEEK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Number of steps per day, or per week from Monday, starting at `begins`. `before` counts steps of earlier
    weeks that are not shown.
    """

    unit: Literal["day", "week"]
    begins: date
    counts: tuple[int, ...]
    before: int = 0

    @property
    def brief(self) -> str:
        """Return a short text for a small chart: `9 times over 3 weeks`, or `6 times, all on 9 November 2026`."""
        if len(self.counts) == 1 and not self.before:
            return self.words
        older = f", {self.before:,} before" if self.before else ""
        return f"{counted(sum(self.counts), 'time')} over {counted(len(self.counts), self.unit)}{older}"

    @property
    def words(self) -> str:
        """Return the chart as text: `9 times over 3 weeks from 2 November 2026, most in that of 9 November 2026:
        5`.
        """
        most = max(self.counts)
        at = written(self.begins + timedelta(days=self.counts.index(most) * _LASTS[self.unit]))
        busiest = f"on {at}" if self.unit == "day" else f"in the week of {at}"
        if len(self.counts) == 1 and not self.before:
            return f"{counted(most, 'time')}, all {busiest}"
        older = f", and {self.before:,} before" if self.before else ""
        over = f"{counted(len(self.counts), self.unit)} from {written(self.begins)}"
        return f"{counted(sum(self.counts), 'time')} over {over}, most {busiest}: {most:,}{older}"


def trend(days: Mapping[date, int]) -> Trend | None:
    """Return the trend for counts by day, or None if there are none."""
    if not days:
        return None
    first, last = min(days), max(days)
    if (last - first).days < DAYS:
        counts = [days.get(first + timedelta(days=each), 0) for each in range((last - first).days + 1)]
        return Trend(unit="day", begins=first, counts=tuple(counts))
    weeks: dict[date, int] = {}
    for day, number in days.items():
        weeks[_monday(day)] = weeks.get(_monday(day), 0) + number
    end = _monday(last)
    begin = max(_monday(first), end - timedelta(days=_WEEK * (WEEKS - 1)))
    counts = [weeks.get(begin + timedelta(days=at), 0) for at in range(0, (end - begin).days + _WEEK, _WEEK)]
    before = sum(number for week, number in weeks.items() if week < begin)
    return Trend(unit="week", begins=begin, counts=tuple(counts), before=before)


def written(day: date) -> str:
    """Return the day in words: `9 November 2026`."""
    return f"{day.day} {day:%B %Y}"


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def window_of(moment: datetime, window: str) -> tuple[datetime, datetime]:
    """Return the begin and the end of the calendar day, week (from Monday) or month, in UTC, that contains the moment."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if window == "day":
        return day, day + timedelta(days=1)
    if window == "week":
        begin = day - timedelta(days=day.weekday())
        return begin, begin + timedelta(days=7)
    begin = day.replace(day=1)
    return begin, (begin + timedelta(days=32)).replace(day=1)
