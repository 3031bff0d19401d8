"""The one-line label of an action in a row."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import (
    LONGEST,
    LONGEST_QUESTION,
    first_words,
    label,
    label_of_deleted,
)


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


@pytest.mark.parametrize("kind", ["ask", "tool_call", "tool_result"])
@pytest.mark.parametrize("error", [None, "It timed out."])
@pytest.mark.parametrize(
    "value",
    [
        None,
        "Who pays?",
        " " * 2_000 + "Ada",
        "why " * 2_000,
        {"b": 1, "a": [None]},
        ["", {"text": "x"}],
        1.5,
        {},
    ],
)
def test_the_label_depends_only_on_the_first_words_of_a_value(
    kind: str, error: str | None, value: object
) -> None:
    words = None if value is None else first_words(value)
    for name in (None, "ls", "n" * 300):
        draft = ActionDraft(kind=kind, name=name, error_message=error, input=value, output=value)
        assert label(replace(draft, input=words, output=words)) == label(draft)


def test_the_label_of_a_deleted_step_has_only_the_time() -> None:
    assert label_of_deleted(datetime(2026, 5, 1, 9, 30, tzinfo=UTC)) == "[deleted: turn] 2026-05-01 09:30 UTC"
