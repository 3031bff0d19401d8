"""What cannot be recorded is refused by the name of its part."""

from datetime import UTC, datetime, timedelta

import pytest

from timemachine.base.errors import InvalidInput
from timemachine.recording.validation import LONGEST_ID_BYTES, check_end, check_id


def test_an_id_may_have_as_many_bytes_as_an_index_holds_and_no_more() -> None:
    check_id("id", "ü" * (LONGEST_ID_BYTES // 2))
    with pytest.raises(InvalidInput, match=r"`call_id` has 2,002 bytes .* it may have 2,000\.") as refused:
        check_id("call_id", "ü" * (LONGEST_ID_BYTES // 2 + 1))
    assert refused.value.facts["field"] == "call_id"


def test_a_session_ends_at_the_earliest_when_it_began() -> None:
    began = datetime(2026, 11, 23, 9, tzinfo=UTC)
    check_end(began, began)
    check_end(began, None)
    with pytest.raises(InvalidInput, match="before 2026-11-23T09:00:00") as refused:
        check_end(began, began - timedelta(microseconds=1))
    assert refused.value.facts["field"] == "ended_at"
