"""The range of days (UTC) of a cost query."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from timemachine.core.pure.errors import InvalidInput

DEFAULT_DAYS: Final = 30
"""Number of days shown by default, including the last one."""
MAX_DAYS: Final = 366


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

    def widened(self, first: date) -> "Span":
        """Return the days from `first`, an earlier day, or as many of them as a range can have; if this has as many, the days
        before it."""
        until = self.until if self.length < MAX_DAYS else _days_before(self.since, 1)
        return Span(since=max(first, _days_before(until, MAX_DAYS - 1)), until=until)


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
            f"The range has {span.length:,} days; the maximum is {MAX_DAYS}. "
            f"Use {_days_before(last, MAX_DAYS - 1)} or a later day as `since`.",
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
