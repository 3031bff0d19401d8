"""Session filters of a suite: valid filters and how they are stored."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.suites.plan import LONGEST_TEXT, MOST_MATCHED, Matching, check_matching, matching_of

TEXTS = st.text(max_size=10)


@pytest.mark.parametrize(
    ("matching", "says"),
    [
        (Matching(), "at least one"),
        (Matching(tag=" "), "at least one"),
        (Matching(tag="a" * (LONGEST_TEXT + 1)), "at most 200 characters"),
        (Matching(tag="a", most=0), "newest 1 to 200"),
        (Matching(tag="a", most=MOST_MATCHED + 1), "newest 1 to 200"),
    ],
)
def test_an_empty_or_too_broad_filter_is_refused(matching: Matching, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        check_matching(matching)
    assert refused.value.facts["field"] == "matching"


def test_a_filter_is_described_in_words() -> None:
    check_matching(Matching(tag="regression", agent="desk"))
    assert Matching(tag="regression", agent="desk", most=1).words() == (
        "the newest 1 session with agent desk, tag regression"
    )


@settings(max_examples=15)
@given(st.builds(Matching, q=TEXTS, agent=TEXTS, user=TEXTS, tag=TEXTS, most=st.integers(1, MOST_MATCHED)))
def test_a_stored_filter_is_read_back_unchanged(matching: Matching) -> None:
    assert matching_of(matching.as_json()) == matching
    assert matching_of(None) is None
