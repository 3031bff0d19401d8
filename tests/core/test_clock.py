from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.clock import is_date, now, parse_time, parse_typed_start, parse_typed_time, written
from timemachine.core.pure.errors import InvalidInput


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_time_is_parsed_to_the_same_moment(moment: datetime) -> None:
    text = written(moment)
    assert text is not None
    assert text.endswith("Z")
    assert parse_time(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2026-11-20",
        "2026-11-20T09:00:00",
        "0001-01-01T00:00:00+23:59",
        "",
        "2026-13-01T00:00:00Z",
    ],
)
def test_an_invalid_moment_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_time(text)


def test_none_is_written_as_none() -> None:
    assert written(None) is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T19:05:00Z",
        "2026-11-20 19:05",
        "2026-11-20T19:05",
        "2026-11-20 19:05:00.000 UTC",
        "2026-11-20 19:05 utc",
        " 2026-11-20T21:05:00+02:00 ",
    ],
)
def test_typed_times_are_parsed_in_common_forms(text: str) -> None:
    assert parse_typed_time(text) == datetime(2026, 11, 20, 19, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2001-02-03", "2001-02-03 UTC", "2001-02-03Z"])
def test_a_date_is_the_end_of_its_day(text: str) -> None:
    assert is_date(text)
    assert parse_typed_time(text) == datetime(2001, 2, 3, 23, 59, 59, 999_999, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2001-02-03", "2001-02-03 UTC", "2001-02-03T00:00:00Z", "2001-02-03 01:00+01:00"]
)
def test_as_a_start_a_date_is_the_beginning_of_its_day(text: str) -> None:
    assert parse_typed_start(text) == datetime(2001, 2, 3, tzinfo=UTC)


def test_today_ends_now_and_a_future_day_at_its_end() -> None:
    before = now()
    found = parse_typed_time(f"{before:%Y-%m-%d}")
    assert before <= found <= now() or found.time() == datetime.max.time()
    assert parse_typed_time(f"{before + timedelta(days=2):%Y-%m-%d}") > now()


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-11-20 25:00", "2026-11-20T19:05+02:00 UTC", "0001-01-01T00:00:00+23:59"]
)
def test_an_invalid_typed_time_is_refused(text: str) -> None:
    assert not is_date(text)
    with pytest.raises(InvalidInput, match="write it like"):
        parse_typed_time(text)
