"""Schedules of suites: notation, next due time, and changes of clocks."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.suites.pure.schedule import (
    WEEKDAYS,
    Schedule,
    next_after,
    read_schedule,
    written_schedule,
)

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("every 6 hours", "every 6 hours"),
        ("Every 1 hour", "every 1 hour"),
        ("every 1 hours", "every 1 hour"),
        ("daily 07:30", "daily 07:30 UTC"),
        ("daily  07:30  Europe/Berlin", "daily 07:30 Europe/Berlin"),
        ("Weekly Monday 23:59 UTC", "weekly monday 23:59 UTC"),
    ],
)
def test_a_schedule_is_stored_in_one_canonical_form(text: str, canonical: str) -> None:
    assert written_schedule(read_schedule(text)) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must be written as `every 6 hours`"),
        ("hourly", "must be written as"),
        ("every 0 hours", "every 1 to 336 hours, for example `every 6 hours`"),
        ("every 337 hours", "every 1 to 336 hours"),
        ("daily 24:00", "00:00 to 23:59"),
        ("daily 07:60", "00:00 to 23:59"),
        ("daily 7:30", "must be written as"),
        ("weekly 07:30", "must be written as"),
        ("weekly someday 07:30", "must name a weekday"),
        ("daily 07:30 Mars/Olympus", "not 'Mars/Olympus'"),
        ("daily 07:30 ../../etc/passwd", "not '../../etc/passwd'"),
        ("daily 07:30 europe/berlin", "not 'europe/berlin'"),
    ],
)
def test_an_invalid_schedule_is_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        read_schedule(text)
    assert refused.value.facts["field"] == "schedule"


@pytest.mark.parametrize(
    ("text", "moment", "due"),
    [
        ("daily 07:30 UTC", "2026-11-20T07:29:59Z", "2026-11-20T07:30Z"),
        ("daily 07:30 UTC", "2026-11-20T07:30:00Z", "2026-11-21T07:30Z"),
        ("weekly friday 07:30 UTC", "2026-11-20T07:30:00Z", "2026-11-27T07:30Z"),
        ("weekly thursday 07:30 UTC", "2026-11-20T07:30:00Z", "2026-11-26T07:30Z"),
        ("daily 00:15 Asia/Kathmandu", "2026-11-20T12:00:00Z", "2026-11-20T18:30Z"),
        # clocks go forward: 02:30 does not exist, so it is an hour later; back: 02:30 occurs twice, and the first counts
        ("daily 02:30 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30Z"),
        ("daily 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", "2026-03-30T00:30Z"),
        ("daily 02:30 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30Z"),
        ("daily 02:30 Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30Z"),
        ("every 6 hours", "2026-11-20T07:29:59Z", "2026-11-20T12:00Z"),
        ("every 6 hours", "2026-11-20T12:00:00Z", "2026-11-20T18:00Z"),
        ("every 6 hours", "2026-11-19T00:00:00Z", "2026-11-20T06:00Z"),
    ],
)
def test_a_suite_has_a_next_due_time(text: str, moment: str, due: str) -> None:
    assert next_after(read_schedule(text), at(moment), at("2026-11-20T00:00:00Z")) == at(due)


START = datetime(2020, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 15 * 365 * 86_400).map(lambda seconds: START + timedelta(seconds=seconds))
CLOCKS = st.builds(
    Schedule,
    weekday=st.none() | st.integers(0, 6),
    at=st.builds(time, st.integers(0, 23), st.integers(0, 59)),
    timezone=st.sampled_from(ZONES),
)
HOURS = st.builds(Schedule, every_hours=st.integers(1, 336))


@given(CLOCKS | HOURS)
def test_a_written_schedule_is_read_back_unchanged(schedule: Schedule) -> None:
    assert read_schedule(written_schedule(schedule)) == schedule


@given(CLOCKS | HOURS, MOMENTS, MOMENTS)
def test_the_next_due_time_is_the_first_after_the_moment(
    schedule: Schedule, moment: datetime, since: datetime
) -> None:
    due = next_after(schedule, moment, since)
    assert due > moment
    assert next_after(schedule, due - timedelta(microseconds=1), since) == due
    assert next_after(schedule, moment + (due - moment) / 2, since) == due


@given(CLOCKS, MOMENTS)
def test_a_daily_schedule_is_due_at_its_local_time_or_later_if_that_time_is_skipped(
    schedule: Schedule, moment: datetime
) -> None:
    local = next_after(schedule, moment, moment).astimezone(ZoneInfo(schedule.timezone))
    before = datetime.combine(local.date(), schedule.at, local.tzinfo)
    assert local.time() == schedule.at or before.astimezone(UTC).astimezone(local.tzinfo) == local
    if schedule.weekday is not None and local.time() == schedule.at:
        assert WEEKDAYS[local.weekday()] == WEEKDAYS[schedule.weekday]
