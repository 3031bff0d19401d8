"""Simulations of tau2-bench as sessions."""

from decimal import Decimal

import pytest

from tests.recording.importing.chats.samples import TAU2, TAU2_VOICE
from tests.recording.importing.sample_files import document, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.draft import Usage


def test_each_side_has_its_model_calls_with_the_messages_under_them() -> None:
    session, failed = read(document(TAU2)).sessions
    assert [(each.kind, each.agent, each.tool) for each in session.actions] == [
        ("message", "agent", None),
        ("llm_call", "user", None),
        ("message", None, None),
        ("llm_call", "agent", None),
        ("tool_call", "agent", "get_user"),
        ("tool_call", "agent", "get_user"),
        ("tool_result", "agent", "get_user"),
        ("tool_result", "agent", "get_user"),
        ("tool_call", None, "restart"),
        ("tool_result", "user", "restart"),
        ("event", None, None),
        ("event", None, None),
    ]
    by_user, by_agent = (each for each in session.actions if each.kind == "llm_call")
    assert (by_user.model, by_user.usage) == ("gpt-y", Usage(input_tokens=40, output_tokens=4))
    assert (by_agent.model, by_agent.duration_ms, by_agent.cost_usd) == ("gpt-x-2026", 1500, Decimal("0.01"))
    assert [each.error_message for each in session.actions if each.error_type] == ["no 8", None]
    assert session.metadata["reward"] == 1
    assert failed.actions[0].error_type == "agent_error"
    assert failed.actions[0].cost_usd is None


def test_the_costs_of_both_sides_are_in_the_total_once() -> None:
    session, _ = read(document(TAU2)).sessions
    costs = [each.cost_usd for each in session.actions if each.cost_usd is not None]
    assert costs == [Decimal("0.005"), Decimal("0.01"), Decimal("0.01")]
    assert sum(costs) == Decimal("0.025")


def test_a_cost_of_zero_is_one_that_tau2_could_not_calculate() -> None:
    said = {"role": "assistant", "content": "Hi", "usage": {"prompt_tokens": 5}, "cost": 0.0}
    run = {
        "id": "s",
        "task_id": "1",
        "termination_reason": "user_stop",
        "messages": [said],
        "agent_cost": 0.0,
    }
    (session,) = read(document(run)).sessions
    assert [(each.kind, each.cost_usd) for each in session.actions] == [
        ("llm_call", None),
        ("message", None),
        ("event", None),
    ]


def test_silent_ticks_of_a_voice_run_are_merged_and_others_are_read() -> None:
    found = read(document(TAU2_VOICE))
    (session,) = found.sessions
    assert [(each.kind, each.role, each.name or each.tool) for each in session.actions] == [
        ("event", "system", "ticks"),
        ("message", "agent", None),
        ("tool_call", "agent", "find"),
        ("tool_result", "tool", "find"),
        ("message", "user", None),
        ("event", "system", "ticks"),
        ("event", "system", "tick"),
        ("tool_call", "user", "look"),
        ("event", "system", "end"),
    ]
    silent, said, _, _, _, heard = session.actions[:6]
    assert (silent.duration_ms, silent.output) == (1000, {"ticks": 2, "speaking": []})
    assert heard.output == {"ticks": 1, "speaking": ["user"]}
    assert said.started_at is not None
    assert len(found.report.skipped) == 1


def test_a_file_that_only_describes_a_run_says_where_its_simulations_are() -> None:
    with pytest.raises(InvalidInput, match="import the files in that folder"):
        read(document({name: TAU2[name] for name in ("info", "tasks")}))


def test_results_that_are_not_objects_are_kept_in_the_source() -> None:
    message = {"role": "tool", "tool_messages": ["half"]}
    found = read(document({"task_id": "7", "termination_reason": "user_stop", "messages": [message]}))
    first = found.sessions[0].actions[0]
    assert (first.kind, first.output, first.source) == ("tool_result", None, message)


def test_a_simulation_without_times_has_none() -> None:
    found = read(document({"task_id": "7", "termination_reason": "user_stop", "messages": []}))
    assert (found.sessions[0].started_at, found.report.notes) == (None, [])
