"""What cannot be recorded is refused by the name of its part."""

import pytest

from timemachine.base.errors import InvalidInput
from timemachine.recording.validation import LONGEST_ID_BYTES, check_id


def test_an_id_may_have_as_many_bytes_as_an_index_holds_and_no_more() -> None:
    check_id("id", "ü" * (LONGEST_ID_BYTES // 2))
    with pytest.raises(InvalidInput, match=r"`call_id` has 2,002 bytes .* it may have 2,000\.") as refused:
        check_id("call_id", "ü" * (LONGEST_ID_BYTES // 2 + 1))
    assert refused.value.facts["field"] == "call_id"
