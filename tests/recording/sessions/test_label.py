"""The one-line label of an action in a row."""

import pytest

from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import LONGEST, LONGEST_QUESTION, label


@pytest.mark.parametrize(
    ("draft", "line"),
    [
        (ActionDraft(kind="ask", input="Who pays?", output="Ada."), "Who pays?"),
        (
            ActionDraft(kind="ask", input="Who\npays?", error_message="It timed out."),
            "Who pays? · It timed out.",
        ),
        (ActionDraft(kind="find", input={"query": "pays"}, error_message="No words."), "pays · No words."),
        (ActionDraft(kind="ask", error_message="It timed out."), "It timed out."),
        (
            ActionDraft(kind="tool_call", tool="ls", input="docs", error_message="No such folder."),
            "ls No such folder.",
        ),
    ],
)
def test_the_label_of_a_failed_ask_shows_the_question_before_the_error(draft: ActionDraft, line: str) -> None:
    assert label(draft) == line


def test_a_long_question_is_shortened_so_that_the_error_fits() -> None:
    line = label(ActionDraft(kind="ask", input="why " * 200, error_message="It timed out."))
    assert line.endswith("… · It timed out.")
    assert len(line) <= LONGEST_QUESTION + len(" · It timed out.") <= LONGEST
