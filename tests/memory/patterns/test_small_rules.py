"""Retried calls, trends, and the windows of rules."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.patterns.pure.retries import changed_between
from timemachine.memory.patterns.pure.trend import DAYS, WEEKS, trend, window_of

BOOKING = {"user": "ada", "flight": "HAT1", "bags": 1, "payment": 255}


@pytest.mark.parametrize(
    ("failed", "retried", "changed"),
    [
        (BOOKING, dict(BOOKING), ()),
        (BOOKING, BOOKING | {"payment": 305}, ("payment",)),
        (BOOKING, {name: BOOKING[name] for name in ("user", "flight", "bags")}, ("payment",)),
        (BOOKING, BOOKING | {"payment": 1, "bags": 2}, None),
        ({"command": "pytest"}, {"command": "ls"}, None),
        ({"command": "pytest", "timeout": 9}, {"command": "ls", "timeout": 9}, None),
        ("pytest", "pytest", ()),
        ("pytest", "ls", None),
        (None, None, None),
        ({}, {}, ()),
    ],
)
def test_a_call_is_a_retry_if_most_of_its_arguments_are_the_same(
    failed: Any, retried: Any, changed: tuple[str, ...] | None
) -> None:
    assert changed_between(failed, retried) == changed


def test_a_trend_within_a_month_is_by_day_and_a_longer_one_by_week() -> None:
    first = date(2026, 11, 2)
    by_days = trend({first: 2, first + timedelta(days=3): 1})
    assert by_days is not None
    assert (by_days.unit, by_days.counts) == ("day", (2, 0, 0, 1))
    assert by_days.words == "3 times over 4 days from 2 November 2026, most on 2 November 2026: 2"
    assert by_days.brief == "3 times over 4 days"
    by_weeks = trend({first + timedelta(days=2): 1, first + timedelta(days=DAYS + 2): 4})
    assert by_weeks is not None
    assert (by_weeks.unit, by_weeks.begins, by_weeks.counts) == ("week", first, (1, 0, 0, 0, 4))
    assert by_weeks.words.endswith("most in the week of 30 November 2026: 4")


def test_a_trend_of_one_day_names_the_day_and_no_days_give_no_trend() -> None:
    one = trend({date(2026, 11, 2): 3})
    assert one is not None
    assert one.words == one.brief == "3 times, all on 2 November 2026"
    assert trend({}) is None


def test_beyond_a_year_the_last_weeks_are_shown_and_earlier_ones_counted() -> None:
    old = trend({date(2024, 1, 1): 7, date(2026, 11, 2): 1})
    assert old is not None
    assert (len(old.counts), old.before, sum(old.counts)) == (WEEKS, 7, 1)
    assert old.words.endswith(", and 7 before")


@given(st.dictionaries(st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.integers(1, 9), min_size=1))
def test_no_step_is_lost_in_a_trend(days: dict[date, int]) -> None:
    found = trend(days)
    assert found is not None
    assert sum(found.counts) + found.before == sum(days.values())


@given(st.integers(0, 4_000_000_000))
def test_every_moment_is_in_its_window(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    for window in ("day", "week", "month"):
        begin, end = window_of(moment, window)
        assert begin <= moment < end
        assert window_of(begin, window) == (begin, end)
        assert window_of(end, window)[0] == end
    assert window_of(moment, "week")[0].weekday() == 0
    assert window_of(moment, "month")[0].day == 1
