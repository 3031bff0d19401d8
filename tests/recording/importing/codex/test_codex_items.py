"""Events of Codex that repeat an item for the screen."""

from typing import Any

import pytest

from tests.recording.importing.codex.item_samples import CODEX_ITEMS, item, said, told, told_text
from tests.recording.importing.sample_files import codex_line, lines
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (found,) = FORMATS["codex"].read(lines(*records)).sessions
    return found.actions


def test_an_event_that_repeats_an_item_is_in_the_source_of_its_step() -> None:
    found = actions(*CODEX_ITEMS)
    told_items = [record for record in CODEX_ITEMS if record["payload"].get("type") == "item_completed"]
    steps = {
        event["payload"]["item"]["id"]: each
        for each in found
        for event in (each.source if isinstance(each.source, list) else [each.source])
        if event in told_items
    }
    assert [(name, each.kind, each.tool or each.name) for name, each in steps.items()] == [
        ("u1", "message", None),
        ("rs_1", "message", "thinking"),
        ("msg_2", "message", None),
        ("ws_1", "tool_call", "web_search"),
        ("c2", "tool_result", "exec_command"),
        ("c3", "tool_result", "list_mcp_resources"),
        ("c4", "tool_result", "apply_patch"),
        ("msg_3", "message", None),
        ("c1", "event", "item_completed"),
        ("t1-plan", "event", "item_completed"),
        ("u2", "message", None),
        ("msg_5", "message", None),
    ]
    assert len(steps) == len(told_items)
    assert [each.output for each in found if each.name == "item_completed"] == [
        record["payload"] for record in told_items if record["payload"]["item"]["id"] in {"c1", "t1-plan"}
    ]


def test_a_session_whose_request_is_an_item_is_named_after_it() -> None:
    text = "# Tabs\n\n## My request for Codex:\nMend it"
    (found,) = (
        FORMATS["codex"]
        .read(lines(said(1, "user", "m", text), told_text(1, "UserMessage", "u", text)))
        .sessions
    )
    assert found.name == "Mend it"


@pytest.mark.parametrize(
    ("event", "repeated"),
    [
        (told_text(2, "AgentMessage", "other", "Done. "), said(2, "assistant", "m", "Done.")),
        (
            told(2, "Reasoning", "other", summary_text=["Look first"]),
            item(2, "reasoning", summary=[{"type": "summary_text", "text": "Look first"}]),
        ),
        (
            told(2, "Reasoning", "other", summary_text=[], raw_content=["raw"]),
            item(2, "reasoning", content=[{"type": "reasoning_text", "text": "raw"}]),
        ),
    ],
)
def test_an_event_with_another_id_repeats_the_item_with_its_text(
    event: dict[str, Any], repeated: dict[str, Any]
) -> None:
    started = codex_line("event_msg", 1, type="item_started", item=event["payload"]["item"])
    call, step = actions(started, event, repeated)
    assert (call.kind, step.source) == ("llm_call", [repeated, started, event])


@pytest.mark.parametrize(
    "event",
    [
        told_text(3, "AgentMessage", "other", "Not so."),
        told(3, "Reasoning", "other", summary_text=[{"text": "Done."}]),
        told(3, "HookPrompt", "other", content="Done."),
        told(3, "UserMessage", "other", content=[{"type": "image"}]),
        codex_line("event_msg", 3, type="item_completed", item="Done."),
    ],
)
def test_an_event_that_tells_something_else_is_a_step(event: dict[str, Any]) -> None:
    *_, step = actions(said(2, "assistant", "m", "Done."), event)
    assert (step.kind, step.name, step.output) == ("event", "item_completed", event["payload"])


def test_events_of_both_kinds_repeat_the_same_item() -> None:
    early = codex_line("event_msg", 1, type="agent_message", message="Done.")
    late = told_text(1, "AgentMessage", "m", "Done.")
    answer = said(2, "assistant", "m", "Done.")
    _, step = actions(early, late, answer)
    assert step.source == [answer, early, late]
