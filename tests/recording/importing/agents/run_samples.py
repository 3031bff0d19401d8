"""Samples of runs: traces of the OpenAI Agents SDK and events of OpenHands."""

from typing import Any

from tests.recording.importing.agents.samples import AT
from tests.recording.importing.sample_files import archive


def span(name: str, parent: str | None, second: int, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A span of the Agents SDK that takes a second."""
    return {
        "object": "trace.span",
        "id": name,
        "trace_id": "trace_1",
        "parent_id": parent,
        "started_at": AT(second),
        "ended_at": AT(second + 1),
        "span_data": data,
        "error": None,
        **more,
    }


AGENTS: list[dict[str, Any]] = [
    {
        "object": "trace",
        "id": "trace_1",
        "workflow_name": "Weather",
        "group_id": "talk-1",
        "metadata": {"tier": "gold"},
    },
    span(
        "span_2",
        "span_1",
        1,
        {
            "type": "generation",
            "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rain?"}],
            "output": [{"role": "assistant", "content": "I look."}],
            "model": "gpt-x",
            "model_config": {"temperature": 0},
            "usage": {
                "input_tokens": 100,
                "output_tokens": 10,
                "input_tokens_details": {"cached_tokens": 80},
                "output_tokens_details": {"reasoning_tokens": 4},
            },
        },
    ),
    span(
        "span_3",
        "span_1",
        3,
        {"type": "function", "name": "weather", "input": '{"city": "Oslo"}', "output": "Rain"},
    ),
    span("span_4", "span_1", 5, {"type": "handoff", "from_agent": "Triage", "to_agent": "Poet"}),
    span("span_1", None, 0, {"type": "agent", "name": "Triage", "tools": ["weather"], "handoffs": ["Poet"]}),
    span(
        "span_6",
        "span_5",
        7,
        {"type": "response", "response_id": "resp_1", "usage": {"input_tokens": 20, "output_tokens": 2}},
    ),
    span("span_5", None, 6, {"type": "agent", "name": "Poet"}),
]

OPENHANDS: list[dict[str, Any]] = [
    {
        "id": 0,
        "timestamp": "2026-03-01T10:00:00",
        "source": "agent",
        "action": "system",
        "args": {"content": "You are OpenHands."},
    },
    {
        "id": 1,
        "timestamp": "2026-03-01T10:00:01",
        "source": "user",
        "action": "message",
        "args": {"content": "List the files"},
    },
    {
        "id": 2,
        "timestamp": "2026-03-01T10:00:02",
        "source": "agent",
        "action": "run",
        "args": {"command": "ls", "thought": "I look."},
        "tool_call_metadata": {
            "function_name": "execute_bash",
            "tool_call_id": "k1",
            "model_response": {
                "id": "r1",
                "model": "anthropic/claude-x",
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 10,
                    "cache_read_input_tokens": 80,
                    "completion_tokens_details": {"reasoning_tokens": 4},
                },
            },
        },
        "llm_metrics": {
            "accumulated_cost": 0.25,
            "accumulated_token_usage": {"prompt_tokens": 100, "completion_tokens": 10},
        },
    },
    {
        "id": 3,
        "timestamp": "2026-03-01T10:00:03",
        "source": "agent",
        "observation": "run",
        "content": "a.py",
        "cause": 2,
    },
    {
        "id": 4,
        "timestamp": "2026-03-01T10:00:04",
        "source": "agent",
        "action": "message",
        "args": {"content": "a.py"},
        "llm_metrics": {
            "accumulated_cost": 0.75,
            "accumulated_token_usage": {"prompt_tokens": 150, "completion_tokens": 15},
            "token_usages": [{"model": "anthropic/claude-x"}],
        },
    },
]

_USED = {
    "model": "openai/gpt-x",
    "cache_read_tokens": 80,
    "cache_write_tokens": 0,
    "reasoning_tokens": 0,
    "context_window": 9,
}
SDK_STATE: dict[str, Any] = {
    "id": "cd945624-03b9-487e-bdd4-018e3f531dfd",
    "agent": {"llm": {"model": "openai/gpt-x"}, "kind": "Agent"},
    "workspace": {"working_dir": "/app", "kind": "LocalWorkspace"},
    "execution_status": "finished",
    "stats": {
        "usage_to_metrics": {
            "agent": {
                "model_name": "openai/gpt-x",
                "accumulated_cost": 0.75,
                "costs": [
                    {"model": "openai/gpt-x", "cost": 0.25, "timestamp": 1.0},
                    {"model": "openai/gpt-x", "cost": 0.125, "timestamp": 2.0},
                    {"model": "openai/gpt-x", "cost": 0.375, "timestamp": 3.0},
                ],
                "response_latencies": [{"model": "openai/gpt-x", "latency": 1.5, "response_id": "r1"}],
                "token_usages": [
                    {**_USED, "prompt_tokens": 100, "completion_tokens": 10, "response_id": "r1"},
                    {**_USED, "prompt_tokens": 110, "completion_tokens": 5, "response_id": "r2"},
                    {**_USED, "prompt_tokens": 90, "completion_tokens": 3, "response_id": "title"},
                ],
            }
        }
    },
}
"""What a conversation of the OpenHands SDK keeps beside its events, in January 2026."""


def _text(words: str) -> list[dict[str, Any]]:
    return [{"cache_prompt": False, "type": "text", "text": words}]


def _event(number: int, kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"e{number}",
        "timestamp": f"2026-02-05T11:24:{40 + number}.142819",
        "source": source,
        **more,
        "kind": kind,
    }


SDK_EVENTS: list[dict[str, Any]] = [
    _event(0, "SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "You are a helper."}, tools=[]),
    _event(1, "MessageEvent", "user", llm_message={"role": "user", "content": _text("List them.")}, activated_skills=["ls"],
           extended_content=_text("Use ls.")),
    _event(2, "ActionEvent", "agent", thought=_text("I look."), reasoning_content="They want a list.", thinking_blocks=[],
           action={"command": "ls", "kind": "TerminalAction"}, tool_name="terminal", tool_call_id="k1",
           tool_call={"id": "k1", "name": "terminal", "arguments": '{"command":"ls"}', "origin": "completion"},
           llm_response_id="r1"),
    _event(3, "ActionEvent", "agent", thought=[], action=None, tool_name="task", tool_call_id="k2",
           tool_call={"id": "k2", "name": "task", "arguments": "{}"}, llm_response_id="r1"),
    _event(4, "ObservationEvent", "environment", tool_name="terminal", tool_call_id="k1", action_id="e2",
           observation={"content": _text("a.py"), "is_error": False, "exit_code": 0, "kind": "TerminalObservation"}),
    _event(5, "AgentErrorEvent", "agent", tool_name="task", tool_call_id="k2", error="No such task"),
    _event(6, "MessageEvent", "agent", llm_message={"role": "assistant", "content": _text("a.py"), "thinking_blocks": []},
           llm_response_id="r2"),
    _event(7, "ConversationErrorEvent", "environment", code="LLMTimeout", detail="It took too long."),
]  # fmt: skip
_FOLDER = "cd94562403b9487ebdd4018e3f531dfd"
SDK_ARCHIVE = archive(
    {
        f"{_FOLDER}/base_state.json": SDK_STATE,
        **{
            f"{_FOLDER}/events/event-{place:05}-{each['id']}0000000.json": each
            for place, each in enumerate(SDK_EVENTS)
        },
        f"{_FOLDER}/subagents/0f945624-03b9-487e-bdd4-018e3f531dfd/events/event-00000-f0000000.json": SDK_EVENTS[
            1
        ],
    }
)
