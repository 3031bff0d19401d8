"""Verdicts in words."""

import pytest

from timemachine.core.pure.verdicts import calls_on_one_side, times, verdict_in_words


@pytest.mark.parametrize(
    ("evidence", "words", "where"),
    [
        ({"only_recorded": ["Read", "Bash", "Bash"]}, "fewer calls", "Read, Bash ×2 only in the recording"),
        ({"only_new": ["Glob"]}, "more calls", "Glob only in the new answer"),
        (
            {"only_recorded": ["Read"], "only_new": ["Glob"]},
            "other tool",
            "Read only in the recording, Glob only in the new answer",
        ),
        (None, "calls differ", ""),
    ],
)
def test_calls_of_the_same_tools_are_fewer_or_more_and_not_other_tools(
    evidence: dict[str, list[str]] | None, words: str, where: str
) -> None:
    assert verdict_in_words("other_tool", evidence) == words
    assert calls_on_one_side(evidence) == where


def test_another_verdict_is_its_name_in_words() -> None:
    assert verdict_in_words("answers_instead", {"only_recorded": ["Read"]}) == "answers instead"


def test_the_frequency_of_a_verdict_reads_naturally() -> None:
    assert times(1_200, "reworded") == "1,200 reworded"
    assert times(9, "same_action") == "9 the same action"
    assert times(1, "names_differ") == "names differ in 1"
    assert times(2, "other_tool") == "calls differ in 2"
    assert times(3, "adds") == "adds something in 3"
    assert times(1_200, "polarity_differs") == "polarity differs in 1,200"
