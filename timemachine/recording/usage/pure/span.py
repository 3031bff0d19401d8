"""The span of days (UTC) that costs are asked for. Pure."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from timemachine.core.pure.errors import InvalidInput

USUAL: Final = 30
"""How many days are shown where nothing else is asked for, the last of them included."""
LONGEST: Final = 366


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The days from `since` to `until`, both included."""

    since: date
    until: date

    @property
    def length(self) -> int:
        """How many days these are."""
        return (self.until - self.since).days + 1

    @property
    def days(self) -> list[date]:
        """Each of them."""
        return [self.since + timedelta(days=number) for number in range(self.length)]


def usual_span(until: date) -> Span:
    """The `USUAL` days that end with this one."""
    return Span(since=_days_before(until, USUAL - 1), until=until)


def span_of(since: str, until: str, today: date) -> Span:
    """The span that was asked for: an empty `until` is today, an empty `since` makes it `USUAL` days.

    Raises `InvalidInput` with the `field` that has to change: no date, the end before the begin, over `LONGEST` days.
    """
    last = _date(until, "until") if until else today
    first = _date(since, "since") if since else usual_span(last).since
    span = Span(since=first, until=last)
    if first > last:
        raise InvalidInput(
            f"`since` is {first}, after `until`, {last}; give the earlier day as `since`.",
            code="invalid_span",
            field="since",
        )
    if span.length > LONGEST:
        raise InvalidInput(
            f"These are {span.length:,} days, and at most {LONGEST} are added up at once; "
            f"give {_days_before(last, LONGEST - 1)} or a later day as `since`.",
            code="invalid_span",
            field="since",
        )
    return span


def _date(text: str, field: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as why:
        raise InvalidInput(
            f"{text[:40]!r} is not a day; write `{field}` like 2026-11-20.", code="invalid_span", field=field
        ) from why


def _days_before(day: date, number: int) -> date:
    return date.fromordinal(max(day.toordinal() - number, date.min.toordinal()))
