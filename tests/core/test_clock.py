from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.clock import is_date, now, parse_time, parse_typed_start, parse_typed_time, written
from timemachine.core.pure.errors import InvalidInput


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_time_reads_as_the_same_moment(moment: datetime) -> None:
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
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_time(text)


def test_no_moment_is_written_as_none() -> None:
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
def test_a_time_is_read_as_people_and_pages_write_it(text: str) -> None:
    assert parse_typed_time(text) == datetime(2026, 11, 20, 19, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2001-02-03", "2001-02-03 UTC", "2001-02-03Z"])
def test_a_date_is_the_end_of_its_day(text: str) -> None:
    assert is_date(text)
    assert parse_typed_time(text) == datetime(2001, 2, 3, 23, 59, 59, 999_999, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2001-02-03", "2001-02-03 UTC", "2001-02-03T00:00:00Z", "2001-02-03 01:00+01:00"]
)
def test_where_a_span_begins_a_date_is_the_begin_of_its_day(text: str) -> None:
    assert parse_typed_start(text) == datetime(2001, 2, 3, tzinfo=UTC)


def test_a_day_that_is_not_over_ends_now_and_one_that_is_to_come_does_not() -> None:
    before = now()
    found = parse_typed_time(f"{before:%Y-%m-%d}")
    assert before <= found <= now() or found.time() == datetime.max.time()
    assert parse_typed_time(f"{before + timedelta(days=2):%Y-%m-%d}") > now()


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-11-20 25:00", "2026-11-20T19:05+02:00 UTC", "0001-01-01T00:00:00+23:59"]
)
def test_what_nobody_writes_for_a_time_is_refused(text: str) -> None:
    assert not is_date(text)
    with pytest.raises(InvalidInput, match="write it like"):
        parse_typed_time(text)
