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
            "2020-01-01",
            "",
            "since",
            f"the maximum is {MAX_DAYS}. Use 2025-11-22 or a later day",
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


@pytest.mark.parametrize(
    ("days", "first", "since", "until"),
    [
        (30, date(2026, 6, 1), date(2026, 6, 1), TODAY),
        (30, date(2020, 6, 1), date(2025, 11, 22), TODAY),
        (MAX_DAYS, date(2025, 6, 1), date(2025, 6, 1), date(2025, 11, 21)),
        (MAX_DAYS, date(2020, 6, 1), date(2024, 11, 21), date(2025, 11, 21)),
    ],
)
def test_a_period_widens_to_an_earlier_day_or_moves_before_itself_if_it_is_the_longest(
    days: int, first: date, since: date, until: date
) -> None:
    span = Span(since=TODAY - timedelta(days=days - 1), until=TODAY)
    assert span.widened(first) == Span(since=since, until=until)
