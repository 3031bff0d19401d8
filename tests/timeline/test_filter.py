import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.base.errors import InvalidInput
from timemachine.recording.vocabulary import KINDS
from timemachine.timeline.filter import EVERYTHING, STATUSES, Filter, parse

filters = st.builds(
    Filter,
    kinds=st.sets(st.sampled_from(KINDS)).map(lambda kinds: tuple(kind for kind in KINDS if kind in kinds)),
    status=st.none() | st.sampled_from(STATUSES),
)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", EVERYTHING),
        ("   ", EVERYTHING),
        ("kind:", EVERYTHING),
        ("kind:ask", Filter(kinds=("ask",))),
        ("kind:ask,find", Filter(kinds=("find", "ask"))),
        ("kind:ask kind:find kind:ask", Filter(kinds=("find", "ask"))),
        ("status:error", Filter(status="error")),
        ("status:ok  kind:tool_call", Filter(kinds=("tool_call",), status="ok")),
        ("status:ok status:error", Filter(status="error")),
    ],
)
def test_a_filter_is_read_as_it_is_written(written: str, found: Filter) -> None:
    assert parse(written) == found


@given(filters)
def test_a_written_filter_reads_as_itself(one: Filter) -> None:
    assert parse(str(one)) == one


@given(filters, st.sampled_from(KINDS))
def test_toggling_a_kind_twice_changes_nothing(one: Filter, kind: str) -> None:
    assert one.toggled(kind).toggled(kind) == one
    assert (kind in one.toggled(kind).kinds) != (kind in one.kinds)


def test_asking_again_for_the_same_status_asks_for_any() -> None:
    assert EVERYTHING.with_status("error").status == "error"
    assert EVERYTHING.with_status("error").with_status("error") == EVERYTHING


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("knd:ask", "Did you mean kind:ask?"),
        ("kind:asc", "Did you mean kind:ask?"),
        ("kind:tool-call", "Did you mean kind:tool_call?"),
        ("status:erro", "Did you mean status:error?"),
        ("stats:{error}", "Did you mean status:{error}?"),
        ("status:", "Known are error, ok."),
        ("zzzzzzzz", "Known are kind, status."),
        ("kind:zzzzzz", "Known are put, find, ask,"),
    ],
)
def test_an_unknown_filter_says_what_may_be_meant(written: str, advice: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(written)
    assert advice in refused.value.message
    assert refused.value.code == "unknown_filter"


def test_a_very_long_unknown_filter_is_cut_in_the_message() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse("x" * 5000)
    assert len(refused.value.message) < 200
