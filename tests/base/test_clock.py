from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.base.clock import parse_time, written
from timemachine.base.errors import InvalidInput


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
