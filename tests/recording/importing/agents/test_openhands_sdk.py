"""Conversations of the OpenHands SDK."""

from typing import Any

import pytest

from tests.recording.importing.agents.run_samples import SDK_ARCHIVE, SDK_EVENTS, SDK_STATE
from tests.recording.importing.sample_files import archive, document, lines, read
from tests.recording.importing.totals import totals
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.values import moment
from timemachine.recording.sessions.pure.draft import ActionDraft

_BARE = {"token_usages": [{"response_id": "bare"}]}
_AT = "2026-02-05T11:24:40"


def event(kind: str, source: str = "agent", /, **more: Any) -> dict[str, Any]:
    return {"id": f"{kind}-1", "timestamp": _AT, "source": source, "kind": kind, **more}


def actions_of(*events: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(document(list(events)), "openhands").sessions
    return session.actions


def test_a_conversation_has_calls_with_tokens_cost_and_duration() -> None:
    main, helper = read(SDK_ARCHIVE).sessions
    assert (main.key, main.forked_from, helper.forked_from) == (SDK_STATE["id"], None, SDK_STATE["id"])
    assert main.metadata == {"status": "finished", "model": "openai/gpt-x", "working_dir": "/app"}
    first, second = [each for each in main.actions if each.kind == "llm_call"]
    assert (first.model, float(first.cost_usd or 0), first.duration_ms) == ("openai:gpt-x", 0.25, 1500)
    assert first.started_at == moment("2026-02-05T11:24:40.642819Z")
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cached_tokens, first.usage.reasoning_tokens) == (100, 80, 0)
    assert (float(second.cost_usd or 0), second.duration_ms) == (0.125, None)
    asked = [each for each in main.actions if each.kind == "tool_call"]
    assert [(each.tool, each.call_id, each.parent) for each in asked] == [
        ("terminal", "k1", first.id),
        ("task", "k2", first.id),
    ]
    found, failed = [each for each in main.actions if each.kind == "tool_result"]
    assert (found.parent, found.output, found.error_type) == (asked[0].id, "a.py", None)
    assert (failed.parent, failed.error_type, failed.error_message) == (
        asked[1].id,
        "tool_error",
        "No such task",
    )


def test_what_no_event_tells_of_is_on_the_final_event() -> None:
    found = read(SDK_ARCHIVE)
    end = found.sessions[0].actions[-1]
    assert (end.name, end.usage and end.usage.input_tokens, float(end.cost_usd or 0)) == ("state", 90, 0.375)
    assert totals(found)["cost"] == 0.75


def test_costs_are_not_paired_with_tokens_if_their_numbers_differ() -> None:
    metrics = SDK_STATE["stats"]["usage_to_metrics"]["agent"]
    state = {
        **SDK_STATE,
        "stats": {
            "usage_to_metrics": {
                "agent": {**metrics, "costs": metrics["costs"][:2]},
                "odd": 7,
                "other": _BARE,
            }
        },
    }
    metrics["token_usages"][2].pop("cache_write_tokens", None)
    files = {"base_state.json": state, "events/event-00000-a0000000.json": SDK_EVENTS[6]}
    (session,) = read(archive(files)).sessions
    assert [(each.kind, each.cost_usd and float(each.cost_usd)) for each in session.actions] == [
        ("llm_call", None), ("message", None), ("event", 0.75),
    ]  # fmt: skip


def test_events_without_a_state_are_calls_of_unknown_tokens() -> None:
    for data in (lines(*SDK_EVENTS), document({"items": SDK_EVENTS, "next_page_id": None})):
        (session,) = read(data).sessions
        calls = [each for each in session.actions if each.kind == "llm_call"]
        assert [(each.usage, each.cost_usd, each.output) for each in calls] == [
            (None, None, {"response_id": "r1"}), (None, None, {"response_id": "r2"}),
        ]  # fmt: skip


def test_an_evaluation_has_tokens_from_its_metrics() -> None:
    metrics = SDK_STATE["stats"]["usage_to_metrics"]["agent"]
    (session,) = read(lines({"instance_id": "i1", "history": SDK_EVENTS, "metrics": metrics})).sessions
    assert session.name == "i1"
    assert totals(read(lines({"history": SDK_EVENTS, "metrics": metrics})))["cost"] == 0.75


def test_a_conversation_is_named_after_its_folder_if_it_has_no_state() -> None:
    folders = {"cd94562403b9487ebdd4018e3f531dfd": "cd945624-03b9-487e-bdd4-018e3f531dfd", "talk": "talk"}
    for folder, key in folders.items():
        file = {
            f"x/{folder}/events/event-00000-a0000000.json": SDK_EVENTS[1],
            f"x/{folder}/events/event-00001-b0000000.json": 7,
        }
        found = read(archive(file))
        assert [session.key for session in found.sessions] == [key]
        assert [each.reason for each in found.report.skipped] == ["It is not an event."]


def test_thoughts_are_not_repeated() -> None:
    stem = {"tool_name": "ls", "tool_call_id": "k", "action": {"path": "."}}
    blocks = [{"type": "thinking", "thinking": "So"}, {"type": "redacted_thinking", "data": "x"}]
    thought, call = actions_of(event("ActionEvent", reasoning_content="So", thinking_blocks=blocks, **stem))
    assert (thought.output, call.input, call.parent) == ("So", {"path": "."}, None)
    first, second, _ = actions_of(event("ActionEvent", thinking_blocks=blocks, **stem))
    assert (first.output, second.output) == ("So", blocks[1])
    item = {"summary": ["A list"], "content": ["of files", 7]}
    first, second, _ = actions_of(event("ActionEvent", responses_reasoning_item=item, **stem))
    assert (first.output, second.output) == ("A list", "of files")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"kind": "UserRejectObservation", "rejection_reason": "Stop"}, ("Stop", "rejected", "Stop")),
        (
            {"observation": {"content": [{"type": "text", "text": "no"}], "is_error": True}},
            ("no", "tool_error", "no"),
        ),
        (
            {"observation": {"content": [{"type": "image"}], "is_error": False}},
            ([{"type": "image"}], None, None),
        ),
        ({"observation": {"output": "old"}}, ({"output": "old"}, None, None)),
        ({}, (None, None, None)),
    ],
)
def test_an_observation_is_a_result(more: dict[str, Any], expected: Any) -> None:
    (result,) = actions_of(event("ObservationEvent", "environment", tool_name="ls", tool_call_id="k", **more))
    assert result.kind == "tool_result"
    assert (result.output or None, result.error_type, result.error_message) == expected


def test_the_calls_of_an_agent_behind_a_protocol_have_results() -> None:
    report = {"tool_call_id": "k", "title": "Read a.py", "tool_kind": "read", "raw_input": {"path": "a.py"}}
    call, between, result = actions_of(
        event("ACPToolCallEvent", **report, status="pending"),
        event("ACPToolCallEvent", **report, status="in_progress"),
        event("ACPToolCallEvent", **report, status="failed", raw_output="gone"),
    )
    assert (call.kind, call.tool, call.input, call.agent) == (
        "tool_call",
        "read",
        {"path": "a.py"},
        "openhands",
    )
    assert (between.kind, between.output["status"]) == ("event", "in_progress")
    assert (result.parent, result.output, result.error_message) == (call.id, "gone", "gone")
    both = actions_of(
        event("ACPToolCallEvent", tool_call_id="k", title="List", status="completed", content=[7])
    )
    assert [(each.kind, each.tool, each.error_type) for each in both] == [
        ("tool_call", "List", None), ("tool_result", "List", None),
    ]  # fmt: skip


def test_other_messages_and_events() -> None:
    system, hint, condensed, asked = actions_of(
        event("SystemPromptEvent", system_prompt={"text": "Help."}, dynamic_context={"text": "Be brief."}),
        event(
            "MessageEvent", "environment", llm_message={"content": [{"type": "text", "text": "Use a tool."}]}
        ),
        event("Condensation", "environment", summary="So far", llm_response_id="r9"),
        event("CondensationRequest", "environment"),
    )[:2] + actions_of(
        event("Condensation", "environment", summary="So far"), event("CondensationRequest", "environment")
    )
    assert (system.role, system.output) == ("system", "Help.\nBe brief.")
    assert (hint.role, hint.output) == ("system", "Use a tool.")
    assert (condensed.output, asked.output) == ({"summary": "So far"}, None)


def test_an_archive_without_events_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no events"):
        read(archive({"events/event-00000-a0000000.json": 7}))
