"""Output of `codex exec --json` before October 2025."""

import pytest

from tests.recording.importing.chats.codex_samples import CODEX_EXEC_FIRST, CODEX_EXEC_OLDER, event
from tests.recording.importing.sample_files import lines, read
from tests.recording.importing.totals import totals
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import detect_format
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import Usage


def test_events_are_messages_calls_and_results() -> None:
    assert detect_format(lines(*CODEX_EXEC_OLDER)) == "codex_exec_older"
    (session,) = read(lines(*CODEX_EXEC_OLDER)).sessions
    assert [(each.kind, each.tool or each.name or each.role) for each in session.actions] == [
        ("message", "user"),
        ("event", "task_started"),
        ("llm_call", "agent"),
        ("message", "thinking"),
        ("tool_call", "exec_command"),
        ("tool_result", "exec_command"),
        ("llm_call", "agent"),
        ("tool_call", "apply_patch"),
        ("tool_result", "apply_patch"),
        ("llm_call", "agent"),
        ("tool_call", "read"),
        ("tool_result", "read"),
        ("llm_call", "agent"),
        ("tool_call", "web_search"),
        ("tool_result", "web_search"),
        ("llm_call", "agent"),
        ("message", "agent"),
        ("event", "task_complete"),
        ("event", "error"),
    ]
    listed, patched, read_it, searched = [each for each in session.actions if each.kind == "tool_result"]
    assert (listed.output["output"], listed.error_message, listed.duration_ms) == ("no", "exit code 2", 1500)
    assert (patched.output, patched.error_type) == ({"output": "Done.", "success": False}, "tool_error")
    assert (read_it.output["output"], read_it.error_type) == ("gone", "tool_error")
    assert (searched.output, searched.error_type) == ({"output": "files"}, None)
    call = session.actions[2]
    assert call.source == [CODEX_EXEC_OLDER[0], CODEX_EXEC_OLDER[5]]
    assert (call.model, call.parameters) == (
        "openai:gpt-5",
        {"effort": "low", "approval_policy": "never", "sandbox_policy": "read-only"},
    )
    assert session.actions[-1].error_message == "stream closed"
    assert (session.name, session.metadata) == ("List the files.", {"cwd": "/w"})


def test_each_call_has_its_tokens() -> None:
    found = totals(read(lines(*CODEX_EXEC_OLDER)))
    assert (found["input_tokens"], found["output_tokens"], found["cached_tokens"]) == (320, 15, 180)
    (session,) = read(lines(*CODEX_EXEC_FIRST)).sessions
    (call,) = [each for each in session.actions if each.kind == "llm_call"]
    assert call.usage == Usage(
        input_tokens=10, output_tokens=2, total_tokens=12, cached_tokens=0, reasoning_tokens=0
    )
    assert (call.model, session.metadata) == ("openai:gpt-5", {"session_id": "s1"})
    (ended,) = [
        each
        for each in read(lines(event("exec_command_end", call_id="c", aggregated_output="a", duration={"secs": 1}), event("task_started"))).sessions[0].actions
        if each.kind == "tool_result"
    ]  # fmt: skip
    assert (ended.output["output"], ended.duration_ms) == ("a", 1000)


@pytest.mark.django_db
def test_calls_are_priced(project: Project) -> None:
    import_file(project, lines(*CODEX_EXEC_FIRST), by="test")
    session = Session.objects.get()
    assert (session.unknown_cost_calls, float(session.cost_usd or 0)) == (0, (10 * 1.25 + 2 * 10) / 1e6)
