"""Samples of runs: traces of the OpenAI Agents SDK and events of OpenHands."""

from typing import Any

from tests.recording.importing.agents.samples import AT


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
