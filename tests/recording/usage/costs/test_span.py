from datetime import date, timedelta

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.usage.pure.span import MAX_DAYS, Span, span_of

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("since", "until", "first", "last"),
    [
        ("", "", date(2026, 10, 24), TODAY),
        ("2026-11-20", "", date(2026, 11, 20), TODAY),
        ("", "2026-11-20", date(2026, 10, 22), date(2026, 11, 20)),
        ("2026-11-20", "2026-11-20", date(2026, 11, 20), date(2026, 11, 20)),
        ("", "0001-01-02", date.min, date(1, 1, 2)),
    ],
)
def test_the_default_period_is_thirty_days_until_today(
    since: str, until: str, first: date, last: date
) -> None:
    span = span_of(since, until, TODAY)
    assert (span.since, span.until) == (first, last)
    assert [span.days[0], span.days[-1]] == [first, last]


@pytest.mark.parametrize(
    ("since", "until", "field", "words"),
    [
        ("yesterday", "", "since", "Write `since` like 2026-11-20"),
        ("", "2026-02-30", "until", "'2026-02-30' is not a date"),
        ("2026-11-21", "2026-11-20", "since", "after `until`"),
        (
            "1026-01-01",
            "",
            "since",
            f"the maximum is {MAX_DAYS:,}. Use {TODAY - timedelta(days=MAX_DAYS - 1)} or later",
        ),
    ],
)
def test_an_invalid_period_is_refused_by_field(since: str, until: str, field: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        span_of(since, until, TODAY)
    assert refusal.value.facts["field"] == field


def test_the_longest_period_is_accepted() -> None:
    first = TODAY - timedelta(days=MAX_DAYS - 1)
    assert span_of(first.isoformat(), "", TODAY) == Span(since=first, until=TODAY)


def test_a_period_widens_to_an_earlier_day_as_far_as_it_can() -> None:
    span = Span(since=TODAY - timedelta(days=29), until=TODAY)
    assert span.widened(date(2020, 6, 1)) == Span(since=date(2020, 6, 1), until=TODAY)
    assert span.widened(date(1020, 6, 1)).length == MAX_DAYS


@pytest.mark.parametrize(
    ("since", "until", "unit", "firsts"),
    [
        ("2026-11-20", "2026-11-22", "day", ["2026-11-20", "2026-11-21", "2026-11-22"]),
        ("2026-09-18", "2026-11-22", "week", ["2026-09-18", "2026-09-21", "2026-09-28"]),
        ("2025-09-18", "2026-11-22", "month", ["2025-09-18", "2025-10-01", "2025-11-01"]),
        ("0001-01-01", "0001-12-31", "week", ["0001-01-01", "0001-01-08", "0001-01-15"]),
    ],
)
def test_a_longer_period_has_weeks_from_monday_and_then_months(
    since: str, until: str, unit: str, firsts: list[str]
) -> None:
    span = Span(since=date.fromisoformat(since), until=date.fromisoformat(until))
    found = span.firsts()
    assert span.unit == unit
    assert [str(each) for each in found[:3]] == firsts
    assert [span.last_of(each) for each in found] == [
        *(each - timedelta(days=1) for each in found[1:]),
        span.until,
    ]
    assert all(span.first_of(span.last_of(each), span.unit) == each for each in found)
