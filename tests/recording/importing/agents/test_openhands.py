"""Sessions of OpenHands."""

from typing import Any

import pytest

from tests.recording.importing.agents.run_samples import OPENHANDS
from tests.recording.importing.agents.samples import AT
from tests.recording.importing.sample_files import document, lines, read
from tests.recording.importing.totals import totals
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.values import moment
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions_of(*events: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(document(list(events))).sessions
    return session.actions


def act(number: int, kind: str, /, **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": AT(number), "source": "agent", "action": kind, "args": {}, **more}


def seen(number: int, kind: str, /, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "timestamp": AT(number),
        "source": "agent",
        "observation": kind,
        "content": "",
        "extras": {},
        **more,
    }


def test_a_trajectory_has_messages_calls_tokens_and_cost() -> None:
    system, user, call, thought, asked, answered, second, said = actions_of(*OPENHANDS)
    assert (system.role, user.role, user.output) == ("system", "user", "List the files")
    assert (call.model, float(call.cost_usd or 0), call.output) == (
        "anthropic:claude-x",
        0.25,
        {"response_id": "r1"},
    )
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.cached_tokens, call.usage.reasoning_tokens) == (100, 80, 4)
    assert (thought.output, asked.tool, asked.input, asked.call_id) == (
        "I look.",
        "run",
        {"command": "ls"},
        "k1",
    )
    assert (answered.parent, answered.output, answered.started_at) == (
        asked.id,
        "a.py",
        moment("2026-03-01T10:00:03Z"),
    )
    assert (second.kind, float(second.cost_usd or 0), said.output) == ("llm_call", 0.5, "a.py")
    assert second.usage is not None
    assert (second.usage.input_tokens, second.usage.output_tokens) == (50, 5)


def test_every_form_of_the_file_is_read() -> None:
    expected = [action.id for action in actions_of(*OPENHANDS)]
    pairs = [OPENHANDS[:1], *([each] for each in OPENHANDS[1:])]
    forms = [
        lines(*OPENHANDS),
        document({"trajectory": OPENHANDS}),
        lines({"history": OPENHANDS}),
        document({"history": pairs}),
    ]
    for data in forms:
        assert [action.id for action in read(data).sessions[0].actions] == expected
    assert [action.id for action in read(document(OPENHANDS[1])).sessions[0].actions] == ["event-1"]


def test_a_run_has_its_cost_once() -> None:
    run = {"instance_id": "x-1", "history": OPENHANDS, "metrics": {"accumulated_cost": 1.0}, "error": "stuck"}
    found = read(lines(run))
    end = found.sessions[0].actions[-1]
    assert (float(end.cost_usd or 0), end.usage, end.error_type, end.error_message) == (
        0.25,
        None,
        "error",
        "stuck",
    )
    assert (totals(found)["cost"], found.sessions[0].name) == (1.0, "x-1")


def test_the_tokens_of_a_run_are_those_of_its_list() -> None:
    history = [
        {"action": "run", "thought": "I look.", "command": "ls"},
        {"observation": "run", "content": "a"},
    ]
    listed = {
        "accumulated_cost": 0.5,
        "token_usages": [{"prompt_tokens": 3, "completion_tokens": 1}, {"prompt_tokens": 4}, 7],
    }
    found = read(
        lines(
            {
                "issue": {"owner": "o", "repo": "r", "number": 5, "title": "Mend"},
                "history": history,
                "metrics": listed,
            }
        )
    )
    (session,) = found.sessions
    assert (session.name, session.metadata["repository"], session.metadata["issue"]) == ("Mend", "o/r", 5)
    call, thought, asked, answered, end = session.actions
    assert (call.kind, call.usage, call.cost_usd, asked.parent) == ("llm_call", None, None, call.id)
    assert (thought.output, asked.input, answered.parent, answered.output) == (
        "I look.",
        {"command": "ls"},
        asked.id,
        "a",
    )
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens, float(end.cost_usd or 0)) == (7, 1, 0.5)


def test_actions_of_one_response_are_one_call() -> None:
    metadata = {
        "tool_call_id": "k1",
        "model_response": {
            "id": "r1",
            "model": "m",
            "usage": {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 2}},
        },
    }
    call, first, second = actions_of(
        act(1, "read", tool_call_metadata=metadata), act(2, "read", tool_call_metadata=metadata)
    )
    assert call.usage is not None
    assert (call.cost_usd, call.usage.cached_tokens) == (None, 2)
    assert (first.parent, second.parent) == (call.id, None)


def test_a_cost_of_zero_is_one_that_openhands_could_not_calculate() -> None:
    call, _ = actions_of(act(1, "run", llm_metrics={"accumulated_cost": 0.0}))
    assert call.cost_usd is None
    run = {"history": OPENHANDS, "metrics": {"accumulated_cost": 0.0}}
    assert read(lines(run)).sessions[0].actions[-1].cost_usd is None


def test_a_cost_that_decreases_is_unknown() -> None:
    first, _, second, _ = actions_of(
        act(1, "run", llm_metrics={"accumulated_cost": 0.5}),
        act(2, "run", llm_metrics={"accumulated_cost": 0.25}),
    )
    assert (float(first.cost_usd or 0), second.cost_usd) == (0.5, None)


def test_errors_and_events() -> None:
    recall, recalled, call, asked, failed, state, broken, odd, typed = actions_of(
        act(1, "recall", source="user", args={"query": "x"}),
        seen(2, "recall", cause=1, content="Added"),
        act(3, "run", args={"command": "ls"}),
        seen(4, "error", cause=3, content="No such command"),
        seen(5, "agent_state_changed", cause=3, extras={"agent_state": "error", "reason": "Out of budget"}),
        seen(6, "error", content="Lost"),
        seen(7, "run", cause=[1], content="late"),
        act(8, "run", source="user", args={"command": "pwd"}),
    )
    assert (recall.kind, recall.output, recalled.kind) == ("event", {"query": "x"}, "event")
    assert (call.kind, asked.parent) == ("llm_call", call.id)
    assert (failed.parent, failed.error_type, failed.error_message) == (
        asked.id,
        "tool_error",
        "No such command",
    )
    assert (state.kind, state.error_type, state.error_message) == ("event", "error", "Out of budget")
    assert (broken.kind, broken.error_type, broken.error_message) == ("event", "error", "Lost")
    assert odd.output == "late"
    assert (typed.kind, typed.role) == ("tool_call", "user")


def test_an_event_that_is_not_an_object_is_skipped() -> None:
    found = read(document({"history": [7, *OPENHANDS]}))
    assert [each.reason for each in found.report.skipped] == ["It is not an object, so it is not an event."]


def test_a_file_without_events_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no events"):
        read(lines({"a": 1}), "openhands")
