"""What a session adds up to: time, rounds, tokens, cost, tools, models, errors and what the cache saved; nothing that was not recorded."""

from typing import Any

from tests.api.conftest import Program

USAGE = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 4, "reasoning_tokens": 2}
STEPS: list[dict[str, Any]] = [
    {"kind": "message", "role": "user", "output": "Mend it", "started_at": "2026-11-23T10:00:00Z"},
    {"kind": "llm_call", "model": "openai:gpt-x", "usage": USAGE, "cost_usd": 0.25, "iteration": 1},
    {"kind": "tool_call", "tool": "bash", "call_id": "t1", "iteration": 1},
    {"kind": "tool_result", "tool": "bash", "call_id": "t1", "error": {"type": "no_such", "message": "x"}},
    {"kind": "tool_call", "tool": "bash", "iteration": 2},
    {"kind": "tool_call", "tool": "read_file", "iteration": 7},
    {"kind": "llm_call", "model": "nobody:nothing", "usage": USAGE},
    {"kind": "ask", "model": "openai:gpt-x", "cost_usd": 0, "cached": True, "saved_usd": 0.5},
    {
        "kind": "message",
        "role": "agent",
        "output": "Done",
        "started_at": "2026-11-23T10:00:02Z",
        "duration_ms": 500,
    },
]


def test_a_summary_says_what_the_steps_add_up_to(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"actions": STEPS})
    told = api.get(f"/sessions/{session}/summary").json()
    assert told["kinds"] == {"ask": 1, "llm_call": 2, "message": 2, "tool_call": 3, "tool_result": 1}
    assert (told["actions"], told["errors"], told["max_iteration"], told["duration_ms"]) == (9, 1, 7, 2500)
    assert (told["input_tokens"], told["output_tokens"], told["cached_tokens"]) == (20, 10, 8)
    assert (told["cost_usd"], told["unknown_cost_calls"]) == (0.25, 1)
    assert (told["cached_calls"], told["saved_usd"], told["unknown_saved_calls"]) == (1, 0.5, 0)
    assert told["tools"] == {"bash": 2, "read_file": 1}
    assert told["models"] == {"nobody:nothing": 1, "openai:gpt-x": 2}


def test_what_no_step_recorded_is_not_made_up(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    told = api.get(f"/sessions/{session}/summary").json()
    unknown = ("input_tokens", "output_tokens", "cached_tokens", "max_iteration", "duration_ms", "saved_usd")
    assert [told[name] for name in unknown] == [None] * len(unknown)
    assert (told["tools"], told["models"]) == ({}, {})
