"""Traces of the OpenAI Agents SDK."""

from typing import Any

import pytest

from tests.recording.importing.agents.run_samples import AGENTS, span
from tests.recording.importing.agents.samples import AT
from tests.recording.importing.sample_files import document, lines, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.values import moment
from timemachine.recording.model_calls.pure.requests import Circumstances, recorded
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions_of(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(lines(*records)).sessions
    return session.actions


def test_a_trace_is_a_session_of_its_group_sorted_by_time() -> None:
    (session,) = read(lines(*AGENTS)).sessions
    assert (session.key, session.name, session.agent, session.metadata) == (
        "talk-1",
        "Weather",
        "Triage",
        {"tier": "gold"},
    )
    trace, agent, system, user, call, said, asked, answered, handoff, second, response = session.actions
    assert (trace.name, agent.name, agent.output["name"]) == ("trace", "agent", "Triage")
    assert (system.role, user.output, said.output) == ("system", "Rain?", "I look.")
    assert (call.model, call.parameters, call.duration_ms, call.parent) == (
        "gpt-x",
        {"temperature": 0},
        1000,
        "span_1",
    )
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.cached_tokens, call.usage.reasoning_tokens) == (100, 80, 4)
    assert (asked.tool, asked.input, answered.output, answered.parent) == (
        "weather",
        {"city": "Oslo"},
        "Rain",
        asked.id,
    )
    assert (handoff.name, second.agent, response.agent) == ("handoff", "Poet", "Poet")
    assert (response.kind, response.model, response.output) == ("llm_call", None, {"response_id": "resp_1"})
    assert response.started_at == moment(AT(7))


def test_a_list_and_the_body_that_is_sent_are_read_too() -> None:
    expected = read(lines(*AGENTS)).sessions
    assert read(document(AGENTS)).sessions == read(document({"data": AGENTS})).sessions == expected


def test_the_conversation_is_not_repeated_with_each_call() -> None:
    first = {
        "type": "generation",
        "model": "m",
        "input": [{"role": "user", "content": "Hi"}],
        "output": [{"role": "assistant", "content": None}, 7],
    }
    second = {
        "type": "generation",
        "model": "m",
        "input": [
            *first["input"],
            {"role": "assistant", "content": "Hey"},
            {"role": "user", "content": [{"type": "x"}]},
        ],
    }
    actions = actions_of(span("a", None, 1, first), span("b", None, 2, second))
    assert [(each.kind, each.output) for each in actions if each.kind == "message"] == [
        ("message", "Hi"),
        ("message", [{"type": "x"}]),
    ]


def test_a_response_that_a_processor_wrote_is_read() -> None:
    data = {
        "type": "response",
        "input": "Hi",
        "response": {
            "id": "r",
            "model": "gpt-x",
            "output": [{"content": [{"text": "Hey"}]}],
            "usage": {"input_tokens": 3, "output_tokens": 1},
            "previous_response_id": "q",
        },
    }
    user, call, said = actions_of(span("a", None, 1, data))
    assert (user.output, call.model, said.output) == ("Hi", "gpt-x", "Hey")
    assert call.usage is not None
    assert (call.parameters, call.metadata) == ({"previous_response_id": "q"}, {"response_id": "r"})
    request = recorded(call.input, Circumstances(parameters=call.parameters))
    assert request is not None
    assert (request.verdict, request.continues) == ("not_recorded", "q")


def test_errors_and_custom_spans() -> None:
    failed, custom, bare = actions_of(
        span(
            "a",
            "a",
            1,
            {"type": "function", "name": "f", "input": None},
            error={"message": "Boom", "data": None},
        ),
        span("b", None, 2, {"type": "custom", "name": "turn", "data": {"usage": {"input_tokens": 9}}}),
        span("c", None, 3, {"type": "response"}),
    )[1:]
    assert (failed.kind, failed.error_message) == ("tool_result", "Boom")
    assert (custom.name, custom.usage, bare.output) == ("turn", None, None)


def test_traces_without_a_group_are_sessions_of_their_own() -> None:
    traces = [
        {"object": "trace", "id": name, "workflow_name": "W", "group_id": None} for name in ("t1", "t2")
    ]
    assert [session.key for session in read(lines(*traces)).sessions] == ["t1", "t2"]
    with pytest.raises(InvalidInput, match="no traces"):
        read(lines({"a": 1}), "openai_agents")
