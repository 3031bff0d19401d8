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
    body = api.get(f"/sessions/{session}/summary").json()
    assert body["kinds"] == {"ask": 1, "llm_call": 2, "message": 2, "tool_call": 3, "tool_result": 1}
    assert (body["actions"], body["errors"], body["max_iteration"], body["steps_ms"]) == (9, 1, 7, 500)
    assert (body["input_tokens"], body["output_tokens"], body["cached_tokens"]) == (20, 10, 8)
    assert (body["cost_usd"], body["unknown_cost_calls"]) == (0.25, 1)
    assert (body["cached_calls"], body["saved_usd"], body["unknown_saved_calls"]) == (1, 0.5, 0)
    assert body["tools"] == {"bash": 2, "read_file": 1}
    assert body["models"] == {"nobody:nothing": 1, "openai:gpt-x": 2}


def test_the_start_and_the_duration_are_those_of_the_steps_where_they_have_times(api: Program) -> None:
    begun = {"name": "n", "key": "k", "started_at": "2026-11-23T09:59:00Z"}
    api.post("/sessions", begun)
    api.post("/sessions/k/actions", {"actions": STEPS})
    recording = api.get("/sessions/k/summary").json()
    assert (recording["started_at"], recording["ended_at"], recording["duration_ms"]) == (
        "2026-11-23T10:00:00Z",
        None,
        2_500,
    )
    api.post("/sessions/k/end", {"ended_at": "2026-11-23T10:01:00Z"})
    body, session = api.get("/sessions/k/summary").json(), api.get("/sessions/k").json()
    assert [body[name] for name in ("started_at", "ended_at")] == [session["started_at"], session["ended_at"]]
    assert (body["duration_ms"], body["steps_ms"]) == (2_500, 500)
    assert (body["first_step_at"], body["last_step_ended_at"]) == (
        "2026-11-23T10:00:00Z",
        "2026-11-23T10:00:02.500000Z",
    )


def test_without_times_of_steps_they_are_those_of_the_session(api: Program) -> None:
    api.post("/sessions", {"name": "n", "key": "k", "started_at": "2026-11-23T09:59:00Z"})
    api.post("/sessions/k/actions", {"actions": [{"kind": "event", "duration_ms": 5}]})
    body = api.get("/sessions/k/summary").json()
    assert (body["started_at"], body["duration_ms"]) == ("2026-11-23T09:59:00Z", None)
    api.post("/sessions/k/end", {"ended_at": "2026-11-23T10:01:00Z"})
    body = api.get("/sessions/k/summary").json()
    assert (body["duration_ms"], body["first_step_at"], body["steps_ms"]) == (120_000, None, 5)


def test_an_imported_session_without_times_has_no_duration(api: Program) -> None:
    file = b'{"messages": [{"role": "user", "content": "Hi"}]}'
    sent = api.client.post("/api/import", file, content_type="application/x-ndjson", headers=api._headers)
    key = sent.json()["sessions"][0]["key"]
    for body in (api.get(f"/sessions/{key}").json(), api.get("/sessions").json()["items"][0]):
        assert (body["started_at"], body["ended_at"], body["status"]) == (None, None, "ended")
        assert body["created_at"]
    assert api.get(f"/sessions/{key}/summary").json()["duration_ms"] is None


def test_values_that_no_step_recorded_are_unknown(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    body = api.get(f"/sessions/{session}/summary").json()
    unknown = (
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "max_iteration",
        "steps_ms",
        "duration_ms",
        "saved_usd",
    )
    assert [body[name] for name in unknown] == [None] * len(unknown)
    assert (body["tools"], body["models"]) == ({}, {})
