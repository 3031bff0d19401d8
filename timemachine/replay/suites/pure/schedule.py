"""The schedule of a suite: every few hours, or at a time of day in a timezone."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from timemachine.core.pure.errors import InvalidInput

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MOST_HOURS: Final = 336
FORMS: Final = "`every 6 hours`, `daily 07:30 Europe/Berlin` or `weekly monday 07:30 Europe/Berlin`"
_EVERY: Final = re.compile(r"every ([0-9]{1,4}) hours?")
_CLOCK: Final = re.compile(r"(daily|weekly ([a-z]+)) ([0-9]{2}):([0-9]{2})( \S+)?")
_DAYS_OF_TWO_WEEKS: Final = range(-1, 14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Every `every_hours`, or else at the local time `at` in `timezone`: each day, or on that weekday only (0 is Monday)."""

    every_hours: int | None = None
    weekday: int | None = None
    at: time = time(0)
    timezone: str = "UTC"


def read_schedule(text: str) -> Schedule:
    """Parse a schedule; a time without a timezone is in UTC. Raises `InvalidInput`."""
    found = schedule_as_written(text)
    if found.timezone not in timezones():
        raise _invalid(f"must name a time zone like Europe/Berlin, not {found.timezone[:60]!r}")
    return found


def schedule_as_written(text: str) -> Schedule:
    """Parse a schedule whose timezone may be unknown on this machine."""
    words = " ".join(text.split())
    if found := _EVERY.fullmatch(words.lower()):
        hours = int(found[1])
        if not 1 <= hours <= MOST_HOURS:
            raise _invalid(f"must repeat every 1 to {MOST_HOURS} hours, for example `every 6 hours`")
        return Schedule(every_hours=hours)
    head, _, zone = words.partition(":")
    if found := _CLOCK.fullmatch(f"{head.lower()}:{zone}"):
        return _by_the_clock(found)
    raise _invalid(f"must be written as {FORMS}")


def written_schedule(schedule: Schedule) -> str:
    """Return the schedule as `read_schedule` reads it."""
    if schedule.every_hours is not None:
        return f"every {schedule.every_hours} hour{'' if schedule.every_hours == 1 else 's'}"
    days = "daily" if schedule.weekday is None else f"weekly {WEEKDAYS[schedule.weekday]}"
    return f"{days} {schedule.at:%H:%M} {schedule.timezone}"


def next_after(schedule: Schedule, moment: datetime, since: datetime) -> datetime:
    """Return the first due time after `moment`, in UTC; hours count from `since`, when the schedule was set.

    A local time that a clock change skips is due that much later on that day; one that occurs twice is due
    the first time.
    """
    if schedule.every_hours is not None:
        step = timedelta(hours=schedule.every_hours)
        return since + step * max(1, (moment - since) // step + 1)
    zone = ZoneInfo(schedule.timezone)
    today = moment.astimezone(zone).date()
    days = (today + timedelta(days=each) for each in _DAYS_OF_TWO_WEEKS)
    due = (
        datetime.combine(day, schedule.at, zone).astimezone(UTC)
        for day in days
        if schedule.weekday in {None, day.weekday()}
    )
    return min(each for each in due if each > moment)


def _by_the_clock(found: re.Match[str]) -> Schedule:
    weekday, zone = found[2], (found[5] or " UTC")[1:]
    hour, minute = int(found[3]), int(found[4])
    if weekday is not None and weekday not in WEEKDAYS:
        raise _invalid(f"must name a weekday: {', '.join(WEEKDAYS)}")
    if hour > 23 or minute > 59:  # noqa: PLR2004  # a clock's
        raise _invalid("must name a time from 00:00 to 23:59")
    day = None if weekday is None else WEEKDAYS.index(weekday)
    return Schedule(weekday=day, at=time(hour, minute), timezone=zone)


@cache
def timezones() -> frozenset[str]:
    """Return the names of all timezones."""
    return frozenset(available_timezones())


def _invalid(says: str) -> InvalidInput:
    return InvalidInput(f"`schedule` {says}.", code="invalid_field", field="schedule")
