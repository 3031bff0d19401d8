"""Chats of Gemini CLI."""

from typing import Any

import pytest

from tests.recording.importing.agents.samples import (
    AT,
    GEMINI,
    GEMINI_ANSWER,
    GEMINI_HEAD,
    GEMINI_LINES,
    GEMINI_TOOL,
)
from tests.recording.importing.sample_files import document, lines, read
from tests.recording.importing.totals import totals
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.values import moment
from timemachine.recording.sessions.pure.draft import ActionDraft


def session_of(*records: Any) -> tuple[ActionDraft, ...]:
    (session,) = read(lines(GEMINI_HEAD, *records)).sessions
    return session.actions


def test_both_forms_give_the_same_steps() -> None:
    (document_session,) = read(document(GEMINI)).sessions
    (lines_session,) = read(lines(*GEMINI_LINES)).sessions
    ids = [action.id for action in document_session.actions]
    assert ids == ["session", "m1", "m2", "m2/1", "m2/2", "m2/3", "m2/3/result"]
    assert [action.id for action in lines_session.actions][: len(ids)] == ids
    assert (
        (document_session.key, document_session.name)
        == (lines_session.key, lines_session.name)
        == ("g1", "Listing files")
    )
    assert lines_session.ended_at == moment(AT(9))


def test_a_message_that_was_written_again_counts_once() -> None:
    found = read(lines(*GEMINI_LINES))
    assert totals(found)["model_calls"] == 1
    assert found.report.notes == [
        "1 line repeated a message that had changed. Each is stored in the source of that message."
    ]


def test_output_includes_thoughts_and_input_what_tools_added() -> None:
    usage = session_of(GEMINI_ANSWER)[1].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (103, 15, 118)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (20, 5)


def test_missing_counts_stay_missing() -> None:
    _, call, *_ = session_of({**GEMINI_ANSWER, "tokens": {"cached": 0}})
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens, call.usage.cached_tokens) == (None, None, 0)


def test_messages_that_were_taken_back_are_marked() -> None:
    actions = session_of(
        *GEMINI_LINES[1:],
        {"$rewindTo": "unknown"},
        {"id": "m9", "type": "user", "content": "Go on"},
    )
    tags = {action.id: action.tags for action in actions}
    assert (tags["m1"], tags["m2"], tags["m3"], tags["m9"]) == (("rewound",), ("rewound",), ("rewound",), ())
    (first, _) = [action for action in actions if action.name == "rewind"]
    assert first.output == "m2"
    assert [action.tags for action in session_of(*GEMINI_LINES[1:]) if action.id == "m1"] == [()]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({}, ("a\nb", None, None)),
        ({"status": "error", "result": [{"functionResponse": {"response": {"error": "No such folder"}}}]},
         ([{"functionResponse": {"response": {"error": "No such folder"}}}], "error", "No such folder")),
        ({"status": "cancelled", "result": None}, (None, "cancelled", None)),
        ({"result": "text"}, ("text", None, None)),
        ({"result": [{"text": "x"}, {"text": "y"}]}, ([{"text": "x"}, {"text": "y"}], None, None)),
    ],
)  # fmt: skip
def test_a_tool_call_has_its_result_or_error(call: dict[str, Any], expected: Any) -> None:
    *_, asked, answered = session_of({**GEMINI_ANSWER, "toolCalls": [{**GEMINI_TOOL, **call}]})
    assert (asked.tool, asked.call_id, asked.input) == ("list_directory", "t1", {"path": "."})
    assert answered.parent == asked.id
    assert (answered.output, answered.error_type, answered.error_message) == expected
    assert answered.started_at == moment(AT(4))
    assert asked.tags == answered.tags == ("agent:helper",)


def test_a_tool_that_still_runs_has_no_result() -> None:
    *_, last = session_of({**GEMINI_ANSWER, "toolCalls": [{"id": "t1", "name": "ls", "status": "executing"}]})
    assert last.kind == "tool_call"


def test_an_answer_without_model_and_tokens_is_a_model_call() -> None:
    _, call, said = session_of(
        {"id": "m2", "type": "gemini", "content": [{"text": "So far"}, {"text": "so good"}]}
    )
    assert (call.kind, call.model, call.usage, said.parent) == ("llm_call", None, None, call.id)
    assert (said.kind, said.role, said.output) == ("message", "agent", "So far\nso good")
    _, nothing = session_of({"id": "m2", "type": "gemini", "content": "", "thoughts": []})
    assert (nothing.kind, nothing.output) == ("llm_call", None)
    _, _, odd = session_of({"type": "gemini", "content": "", "thoughts": [7]})
    assert (odd.name, odd.output) == ("thinking", 7)


def test_an_error_message_is_an_error() -> None:
    _, found = session_of({"id": "m2", "type": "error", "content": "Quota exceeded"})
    assert (found.kind, found.error_type, found.error_message) == ("event", "error", "Quota exceeded")


def test_lines_of_a_resumed_chat_without_its_beginning_are_a_session() -> None:
    found = read(lines({"id": "m1", "type": "user", "content": "Hi"}), "gemini_cli")
    (session,) = found.sessions
    assert session.key.startswith("gemini_cli-")
    with pytest.raises(InvalidInput, match="neither a message"):
        read(lines({"a": 1}), "gemini_cli")
