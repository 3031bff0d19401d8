"""Codex before its envelope, and what `codex exec --json` writes."""

import pytest

from tests.recording.importing.chats.samples import (
    CODEX_EXEC,
    CODEX_EXEC_EARLY,
    CODEX_OLDER,
    CODEX_OLDER_DOCUMENT,
)
from tests.recording.importing.sample_files import document, lines, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.registry import detect_format
from timemachine.recording.sessions.pure.draft import Usage


def test_items_without_an_envelope_become_what_newer_items_become() -> None:
    found = read(lines(*CODEX_OLDER))
    (session,) = found.sessions
    assert (session.key, session.name, session.metadata) == ("co1", "Oil it.", {"git": {"branch": "main"}})
    assert [(each.kind, each.role, each.name or each.tool) for each in session.actions] == [
        ("event", "system", "session_meta"),
        ("event", "system", "state"),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", "thinking"),
        ("tool_call", "agent", "shell"),
        ("event", "system", "state"),
        ("tool_result", "tool", "shell"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
    ]
    call, _, _, result = session.actions[4:8]
    assert session.actions[5].input == {"command": ["ls"]}
    assert (result.parent, result.error_message) == (session.actions[5].id, "exit code 2")
    assert (call.started_at, call.model, call.usage) == (None, None, None)
    assert result.source == CODEX_OLDER[6]
    assert [each.line for each in found.report.skipped] == [9]


def test_the_start_of_a_session_does_not_tell_when_it_ended() -> None:
    (session,) = read(lines(*CODEX_OLDER)).sessions
    assert session.started_at is not None
    assert session.ended_at is None


def test_the_document_of_the_typescript_version_is_read() -> None:
    found = read(document(CODEX_OLDER_DOCUMENT))
    (session,) = found.sessions
    assert session.key == "co2"
    assert [each.kind for each in session.actions] == ["event", "message", "llm_call", "message", "tool_call"]
    assert len(found.report.skipped) == 1


@pytest.mark.parametrize("record", [*CODEX_OLDER[:3], *CODEX_OLDER[4:5], *CODEX_OLDER[6:8]])
def test_one_typical_line_suffices(record: dict[str, object]) -> None:
    assert detect_format(lines(record)) == "codex_older"


def test_lines_of_other_tools_are_not_taken() -> None:
    for record in (
        {"type": "message", "message": {"role": "user"}},
        {"type": "message", "content": [7, {"type": 7}]},
    ):
        with pytest.raises(InvalidInput):
            detect_format(lines(record))


def test_events_of_an_item_become_one_action() -> None:
    (session,) = read(lines(*CODEX_EXEC)).sessions
    assert [(each.kind, each.name or each.tool) for each in session.actions] == [
        ("event", "thread.started"),
        ("event", "turn.started"),
        ("message", "thinking"),
        ("tool_call", "command_execution"),
        ("tool_result", "command_execution"),
        ("tool_call", "read"),
        ("tool_result", "read"),
        ("tool_call", "file_change"),
        ("tool_result", "file_change"),
        ("tool_call", "web_search"),
        ("event", "todo_list"),
        ("event", "error"),
        ("message", None),
        ("event", "turn.completed"),
        ("event", "turn.completed"),
        ("event", "turn.completed"),
        ("event", "turn.failed"),
        ("event", "error"),
    ]
    command, ended, reading, failed, changed = session.actions[3:8]
    assert (command.input, command.source) == ({"command": "ls"}, CODEX_EXEC[3:5])
    assert (ended.parent, ended.output, ended.error_message) == (command.id, "no", "exit code 2")
    assert (reading.input, failed.error_type, failed.error_message) == ({"path": "a"}, "tool_error", "gone")
    assert changed.input == {"changes": [{"path": "a", "kind": "add"}]}
    assert [each.error_message for each in session.actions[-2:]] == ["no credit", "stream closed"]


def test_a_turn_has_the_tokens_since_the_last_total() -> None:
    (session,) = read(lines(*CODEX_EXEC)).sessions
    assert [each.usage for each in session.actions if each.name == "turn.completed"] == [
        Usage(input_tokens=100, output_tokens=7, cached_tokens=60),
        Usage(input_tokens=50, output_tokens=2, cached_tokens=20),
        Usage(input_tokens=20, output_tokens=1, cached_tokens=0),  # smaller: not the same count
    ]
    assert not any(each.kind == "llm_call" for each in session.actions)


def test_the_first_form_of_the_events_is_read_and_each_thread_is_a_session() -> None:
    first, second = read(lines(*CODEX_EXEC_EARLY)).sessions
    assert (first.metadata, second.metadata) == ({"thread_id": "t2"}, {"thread_id": "t3"})
    assert [each.output for each in (*first.actions, *second.actions) if each.kind == "message"] == [
        "Hello.",
        "Again.",
    ]
    assert second.actions[-1].name == "item"
