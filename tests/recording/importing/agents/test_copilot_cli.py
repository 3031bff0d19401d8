"""Sessions of GitHub Copilot CLI."""

from typing import Any

from tests.recording.importing.agents.samples import COPILOT, copilot
from tests.recording.importing.sample_files import lines, read
from tests.recording.importing.totals import totals
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions_of(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(lines(*records)).sessions
    return session.actions


def test_a_session_has_messages_calls_and_results() -> None:
    (session,) = read(lines(*COPILOT)).sessions
    assert (session.key, session.name) == ("co1", "List the files")
    assert session.metadata == {
        "copilot_version": "1.0.34",
        "premium_requests": 2,
        "cwd": "/app",
        "branch": "main",
    }
    _, _, system, user, call, thinking, said, asked, answered, *_ = session.actions
    assert (system.role, user.output, call.model) == ("system", "List the files", "claude-x")
    assert (thinking.output, said.output) == ("Look.", "I look.")
    assert (asked.parent, asked.input, answered.parent, answered.output) == (
        call.id,
        {"command": "ls"},
        asked.id,
        "a.py",
    )
    assert answered.duration_ms == 1000


def test_tokens_that_messages_state_are_not_counted_again_at_the_end() -> None:
    found = totals(read(lines(*COPILOT)))
    assert (
        found["input_tokens"],
        found["output_tokens"],
        found["cached_tokens"],
        found["reasoning_tokens"],
    ) == (100, 35, 80, 8)
    assert found["cost"] is None


def test_steps_of_a_sub_agent_have_its_name() -> None:
    agents = [action.agent for action in actions_of(*COPILOT) if action.output == "Found."]
    assert agents == ["explore"]
    started, message = actions_of(
        copilot("subagent.started", 1, toolCallId="k2"),
        copilot("assistant.message", 2, content="Hi", parentToolCallId="k2", model="m"),
    )[:2]
    assert (started.kind, message.agent) == ("event", "k2")
    assert actions_of(copilot("subagent.started", 1), copilot("assistant.message", 2))[0].kind == "event"


def test_a_message_that_copilot_inserted_is_marked() -> None:
    (action,) = actions_of(copilot("user.message", 1, content="", transformedContent="Go on"))
    assert (action.role, action.tags, action.output) == ("user", ("meta",), "Go on")


def test_failed_tools_and_errors() -> None:
    call, asked, lost, result, odd, error = actions_of(
        copilot(
            "assistant.message",
            1,
            content="",
            toolRequests=[{"toolCallId": "k1", "name": "bash", "arguments": {}}],
        ),
        copilot("tool.execution_complete", 2, success=False, result="half"),
        copilot(
            "tool.execution_complete",
            3,
            toolCallId="k1",
            success=False,
            error={"code": "denied", "message": "No"},
        ),
        copilot("tool.execution_start", 4, toolName="ls"),
        copilot("session.error", 5, errorType="quota", message="Out of requests"),
    )
    assert (call.usage, asked.kind, asked.parent) == (None, "tool_call", call.id)
    assert (lost.parent, lost.output, lost.error_type) == (None, "half", "tool_error")
    assert (result.parent, result.error_type, result.error_message) == (asked.id, "denied", "No")
    assert (odd.kind, odd.parent) == ("tool_call", None)
    assert (error.error_type, error.error_message) == ("quota", "Out of requests")


def test_an_end_without_metrics_has_no_tokens() -> None:
    (action,) = actions_of(copilot("session.shutdown", 1, modelMetrics={"m": {"requests": {"cost": 1}}}))
    assert action.usage is None
    (session,) = read(lines(copilot("session.shutdown", 1), {"type": "later", "data": {}})).sessions
    assert session.key.startswith("copilot_cli-")
