"""Session summaries: time, rounds, tokens, cost, tools, models, errors and cache savings, without inventing unrecorded values."""

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


def test_a_summary_adds_up_the_steps(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"actions": STEPS})
    told = api.get(f"/sessions/{session}/summary").json()
    assert told["kinds"] == {"ask": 1, "llm_call": 2, "message": 2, "tool_call": 3, "tool_result": 1}
    assert (told["actions"], told["errors"], told["max_iteration"], told["steps_ms"]) == (9, 1, 7, 2500)
    assert (told["input_tokens"], told["output_tokens"], told["cached_tokens"]) == (20, 10, 8)
    assert (told["cost_usd"], told["unknown_cost_calls"]) == (0.25, 1)
    assert (told["cached_calls"], told["saved_usd"], told["unknown_saved_calls"]) == (1, 0.5, 0)
    assert told["tools"] == {"bash": 2, "read_file": 1}
    assert told["models"] == {"nobody:nothing": 1, "openai:gpt-x": 2}


def test_the_duration_is_that_of_the_session_and_not_of_its_steps(api: Program) -> None:
    begun = {"name": "n", "key": "k", "started_at": "2026-11-23T09:59:00Z"}
    api.post("/sessions", begun)
    api.post("/sessions/k/actions", {"actions": STEPS})
    recording = api.get("/sessions/k/summary").json()
    assert (recording["started_at"], recording["ended_at"], recording["duration_ms"]) == (
        begun["started_at"],
        None,
        None,
    )
    api.post("/sessions/k/end", {"ended_at": "2026-11-23T10:01:00Z"})
    told, session = api.get("/sessions/k/summary").json(), api.get("/sessions/k").json()
    assert [told[name] for name in ("started_at", "ended_at")] == [session["started_at"], session["ended_at"]]
    assert (told["duration_ms"], told["steps_ms"]) == (120_000, 2_500)
    assert (told["first_step_at"], told["last_step_ended_at"]) == (
        "2026-11-23T10:00:00Z",
        "2026-11-23T10:00:02.500000Z",
    )


def test_an_imported_session_without_times_has_no_duration(api: Program) -> None:
    file = b'{"messages": [{"role": "user", "content": "Hi"}]}'
    sent = api.client.post("/api/import", file, content_type="application/x-ndjson", headers=api._headers)
    key = sent.json()["sessions"][0]["key"]
    for told in (api.get(f"/sessions/{key}").json(), api.get("/sessions").json()["items"][0]):
        assert (told["started_at"], told["ended_at"], told["status"]) == (None, None, "ended")
        assert told["created_at"]
    assert api.get(f"/sessions/{key}/summary").json()["duration_ms"] is None


def test_values_that_no_step_recorded_are_unknown(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    told = api.get(f"/sessions/{session}/summary").json()
    unknown = (
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "max_iteration",
        "steps_ms",
        "duration_ms",
        "saved_usd",
    )
    assert [told[name] for name in unknown] == [None] * len(unknown)
    assert (told["tools"], told["models"]) == ({}, {})
