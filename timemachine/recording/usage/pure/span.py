"""The range of days (UTC) of a cost query."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from timemachine.core.pure.errors import InvalidInput

DEFAULT_DAYS: Final = 30
"""Number of days shown by default, including the last one."""
YEAR: Final = 366
MAX_DAYS: Final = 100 * YEAR

type Unit = Literal["day", "week", "month"]
DAY: Final = "day"
_LONGEST: Final[tuple[tuple[int, Unit], ...]] = ((62, DAY), (YEAR, "week"))
"""Up to how many days a unit is fine enough; months beyond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The days from `since` to `until`, both included."""

    since: date
    until: date

    @property
    def length(self) -> int:
        return (self.until - self.since).days + 1

    @property
    def days(self) -> list[date]:
        return [self.since + timedelta(days=number) for number in range(self.length)]

    @property
    def unit(self) -> Unit:
        """What a bar or a row stands for: a day, or an ISO week or a month if there would be too many."""
        return next((unit for longest, unit in _LONGEST if self.length <= longest), "month")

    def first_of(self, day: date, unit: Unit) -> date:
        """Return the first day of the span that is in the same unit as this day of it. Weeks begin on Monday."""
        if unit == DAY:
            return day
        begin = day.replace(day=1) if unit == "month" else _days_before(day, day.weekday())
        return max(begin, self.since)

    def firsts(self) -> list[date]:
        """Return the first day of each unit of the span."""
        return list(dict.fromkeys(self.first_of(day, self.unit) for day in self.days))

    def last_of(self, first: date) -> date:
        """Return the last day of the span in the same unit as this one."""
        if self.unit == DAY:
            return first
        rest = (
            6 - first.weekday() if self.unit == "week" else monthrange(first.year, first.month)[1] - first.day
        )
        return date.fromordinal(min(first.toordinal() + rest, self.until.toordinal()))

    def widened(self, first: date) -> "Span":
        """Return the days from `first`, an earlier day, or as many of them as a range can have."""
        return Span(since=max(first, _days_before(self.until, MAX_DAYS - 1)), until=self.until)


def default_span(until: date) -> Span:
    """Return the `DEFAULT_DAYS` days that end with this one."""
    return Span(since=_days_before(until, DEFAULT_DAYS - 1), until=until)


def span_of(since: str, until: str, today: date) -> Span:
    """Return the requested range. An empty `until` is today; an empty `since` gives `DEFAULT_DAYS` days.

    Raises `InvalidInput` with the `field` to change if a text is not a date, `since` is after `until`, or there are
    more than `MAX_DAYS` days.
    """
    last = _date(until, "until") if until else today
    first = _date(since, "since") if since else default_span(last).since
    span = Span(since=first, until=last)
    if first > last:
        raise InvalidInput(
            f"`since` ({first}) is after `until` ({last}). Use an earlier `since`.",
            code="invalid_span",
            field="since",
        )
    if span.length > MAX_DAYS:
        raise InvalidInput(
            f"The range has {span.length:,} days; the maximum is {MAX_DAYS:,}. "
            f"Use {_days_before(last, MAX_DAYS - 1)} or later as `since`.",
            code="invalid_span",
            field="since",
        )
    return span


def _date(text: str, field: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as why:
        raise InvalidInput(
            f"{text[:40]!r} is not a date. Write `{field}` like 2026-11-20.", code="invalid_span", field=field
        ) from why


def _days_before(day: date, number: int) -> date:
    return date.fromordinal(max(day.toordinal() - number, date.min.toordinal()))
