"""The one-line label of an action in a row."""

from datetime import UTC, datetime

import pytest

from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import (
    LONGEST,
    LONGEST_QUESTION,
    first_words,
    label,
    label_of_deleted,
    label_of_words,
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


LOOK = {"type": "text", "text": "I look at the\nfolder first."}
BASH = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}
READ = {"type": "tool_use", "id": "2", "name": "Read", "input": {"path": "a.py"}}
FUNCTION = {"id": "1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
ITEM = {"type": "function_call", "name": "shell", "call_id": "1", "arguments": "{}"}
THOUGHT = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "**Evaluating** the repo"}],
}


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("It is empty.", "It is empty."),
        ({"content": [LOOK]}, "I look at the folder first."),
        ({"content": [LOOK, BASH, READ, BASH]}, "Bash ×2, Read · I look at the folder first."),
        ({"id": "chatcmpl-1", "choices": [{"message": {"content": None, "tool_calls": [FUNCTION]}}]}, "Bash"),
        ({"id": "chatcmpl-2", "choices": [{"message": {"content": "Done."}}]}, "Done."),
        ([{"role": "assistant", "content": "Hm.", "tool_calls": [FUNCTION]}], "Bash · Hm."),
        ({"content": [THOUGHT, ITEM]}, "shell"),
        ([THOUGHT], "**Evaluating** the repo"),
        ({"content": [{"type": "server_tool_use", "id": "1", "name": "web_search"}]}, "web_search"),
        ({"content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]}, "image"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}, ""),
        ({"score": 1}, '{"score": 1}'),
    ],
)
def test_a_model_call_is_named_by_the_tools_that_the_model_called_and_by_its_words(
    output: object, line: str
) -> None:
    assert label(ActionDraft(kind="llm_call", input={"messages": []}, output=output)) == line


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ("Go on.", "Go on."),
        (
            {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go on."}]},
            "Go on.",
        ),
        ([{"role": "user", "content": "Go on."}], "Go on."),
        ({"messages": [{"role": "tool", "tool_call_id": "1", "content": "a.py"}]}, "a.py"),
        ({"messages": [{"role": "assistant", "tool_calls": [FUNCTION]}], "text": "Bash"}, "Bash"),
        ({"question": "Who pays?"}, "Who pays?"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            '{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
        ),
        ([], ""),
    ],
)
def test_a_model_call_without_an_answer_is_named_by_the_last_message_that_it_was_given(
    request_: object, line: str
) -> None:
    assert label(ActionDraft(kind="llm_call", input=request_)) == line


@pytest.mark.parametrize("kind", ["ask", "tool_call", "tool_result", "llm_call"])
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
        {"content": [LOOK, BASH]},
        {"choices": [{"message": {"content": '[{"toolCallId": "1", "toolName": "Bash"}]'}}]},
        1.5,
        {},
    ],
)
def test_the_label_depends_only_on_the_first_words_of_a_value(
    kind: str, error: str | None, value: object
) -> None:
    for name in (None, "ls", "n" * 300):
        draft = ActionDraft(kind=kind, name=name, error_message=error, input=value, output=value)
        named = ActionDraft(kind=kind, name=name, error_message=error)
        made = label_of_words(named, lambda field: None if value is None else first_words(value, kind, field))
        assert made == label(draft)
        assert len(made) <= LONGEST


def test_the_label_of_a_deleted_step_has_only_the_time() -> None:
    assert label_of_deleted(datetime(2026, 5, 1, 9, 30, tzinfo=UTC)) == "[deleted: turn] 2026-05-01 09:30 UTC"
