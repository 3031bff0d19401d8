"""Verdicts in words."""

import pytest

from timemachine.core.pure.verdicts import (
    calls_on_one_side,
    listed_times,
    numbers_change,
    times,
    verdict_in_words,
)


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


def test_a_count_of_different_numbers_says_which_are_opposite_and_which_only_shorter() -> None:
    counts = {"numbers_differ": 9, "reworded": 3}
    said = "3 reworded, numbers differ in 9 (1 says the opposite, 5 only leave some out)"
    assert listed_times(counts, opposite=1, shortened=5) == said
    assert listed_times({"numbers_differ": 2}, shortened=1) == "numbers differ in 2 (1 only leaves some out)"
    assert listed_times(counts) == "3 reworded, numbers differ in 9"


@pytest.mark.parametrize(
    ("verdict", "evidence", "change"),
    [
        ("numbers_differ", {"only_recorded": ["9"], "only_new": []}, "shortened"),
        ("numbers_differ", {"only_recorded": ["9"], "only_new": ["8"]}, None),
        ("numbers_differ", {"only_new": ["8"], "turned": ["not"]}, "opposite"),
        ("numbers_differ", None, None),
        ("names_differ", {"only_recorded": ["A"], "only_new": []}, None),
    ],
)
def test_what_an_answer_with_other_numbers_does_besides(
    verdict: str, evidence: dict[str, list[str]] | None, change: str | None
) -> None:
    assert numbers_change(verdict, evidence) == change
