"""Similar steps are paired in the same way whether there are few or many."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.text.pure.difference import similarity
from timemachine.text.pure.difference.similarity import most_alike
from timemachine.text.pure.difference.steps import StepFacts

# no two of these words have the same place in a vector
WORDS = st.lists(st.sampled_from(["alpha", "read", "file", "test", "line", "next", "was"]), max_size=6)
STEPS = st.builds(
    StepFacts,
    sequence=st.just(0),
    kind=st.sampled_from(["message", "tool_call"]),
    input=st.sampled_from([None, "a", "b"]),
    output=st.sampled_from(["x", "y"]),
    words=WORDS.map(" ".join),
)
RUNS = st.lists(STEPS, min_size=1, max_size=4).map(
    lambda steps: [replace(step, sequence=place) for place, step in enumerate(steps, 1)]
)


@given(RUNS, RUNS)
def test_few_steps_are_paired_as_many_are(left: list[StepFacts], right: list[StepFacts]) -> None:
    found = most_alike(left, right)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "_FEW", 0)
        assert most_alike(left, right) == found


def test_steps_of_one_kind_with_similar_words_are_paired() -> None:
    left = [StepFacts(sequence=1, kind="message", output="x", words="read the file next")]
    right = [
        StepFacts(sequence=1, kind="message", output="y", words="something else entirely"),
        StepFacts(sequence=2, kind="message", output="z", words="read that file next"),
    ]
    assert most_alike(left, right) == [(0, 1)]
