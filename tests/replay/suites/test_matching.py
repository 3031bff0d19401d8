"""Which sessions a suite describes: what can be asked for, and how it is kept."""

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
def test_what_describes_nothing_or_too_much_is_refused(matching: Matching, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        check_matching(matching)
    assert refused.value.facts["field"] == "matching"


def test_a_description_is_told_in_words() -> None:
    check_matching(Matching(tag="regression", agent="desk"))
    assert Matching(tag="regression", agent="desk", most=1).words() == (
        "the newest 1 session with agent desk, tag regression"
    )


@settings(max_examples=15)
@given(st.builds(Matching, q=TEXTS, agent=TEXTS, user=TEXTS, tag=TEXTS, most=st.integers(1, MOST_MATCHED)))
def test_what_is_kept_is_read_as_the_same(matching: Matching) -> None:
    assert matching_of(matching.as_json()) == matching
    assert matching_of(None) is None
