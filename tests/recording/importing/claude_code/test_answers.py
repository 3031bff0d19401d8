"""Claude Code answers as model calls: blocks, usage, and synthetic answers."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import CALL, WHEN, actions_of, answer, result, text, user
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage


def test_an_answer_over_several_lines_is_one_model_call_with_a_child_for_each_block() -> None:
    first = answer(
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"}, timestamp=WHEN, requestId="r1"
    )
    second = answer(text("I will read it."), uuid="a2", timestamp="2026-03-01T10:00:01Z")
    third = answer(CALL, uuid="a3", message={"stop_reason": "tool_use"})

    call, thought, text_block, tool = actions_of(first, second, third)

    assert call == ActionDraft(
        kind="llm_call",
        id="a1",
        layer="agent",
        role="agent",
        agent="claude-code",
        metadata={"message_id": "m1", "request_id": "r1"},
        started_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
        model="anthropic:claude-x",
        output={
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                text("I will read it."),
                CALL,
            ],
            "stop_reason": "tool_use",
        },
        source=[first, second, third],
    )
    assert (thought.kind, thought.id, thought.name, thought.tags, thought.output) == (
        "message", "a1/1", "thinking", ("thinking",), "Hm.",
    )  # fmt: skip
    assert (text_block.kind, text_block.id, text_block.layer, text_block.role, text_block.output) == (
        "message", "a2/1", "agent", "agent", "I will read it.",
    )  # fmt: skip
    assert text_block.started_at == datetime(2026, 3, 1, 10, 0, 1, tzinfo=UTC)
    assert (tool.kind, tool.id, tool.layer, tool.role, tool.tool, tool.call_id, tool.input, tool.output) == (
        "tool_call", "a3/1", "tool", "agent", "Read", "t1", {"path": "a.py"}, None,
    )  # fmt: skip
    assert {each.parent for each in (thought, text_block, tool)} == {"a1"}
    assert {each.duration_ms for each in (call, thought, text_block, tool)} == {None}
    assert [each.source for each in (thought, text_block, tool)] == [None, None, None]


def test_the_cost_that_earlier_versions_stated_is_kept_once() -> None:
    call, *_ = actions_of(
        answer(text("a"), costUSD=0.0125),
        answer(text("b"), uuid="a2", costUSD=0.0125),
        answer(CALL, uuid="a3"),
    )
    assert call.cost_usd == Decimal("0.0125")
    assert actions_of(answer(text("a"), costUSD=0))[0].cost_usd is None


@pytest.mark.parametrize(
    ("block", "kind", "name", "tags"),
    [
        ({"type": "redacted_thinking", "data": "Zm9v"}, "message", "thinking", ("thinking",)),
        ({"type": "thinking", "signature": "only"}, "message", "thinking", ("thinking",)),
        ({"type": "server_tool_use", "id": "s1", "name": "web_search"}, "event", "server_tool_use", ()),
        ({"type": "text", "text": None}, "event", "text", ()),
        ({"type": 5}, "event", "unknown", ()),
        ("bare", "event", "unknown", ()),
    ],
)
def test_a_block_without_readable_text_is_stored_unchanged(
    block: Any, kind: str, name: str, tags: tuple[str, ...]
) -> None:
    _, found = actions_of(answer(block))

    assert (found.kind, found.layer, found.role, found.name, found.tags) == (
        kind,
        "agent",
        "agent",
        name,
        tags,
    )
    assert found.output == block


def test_an_answer_with_plain_text_content_has_one_text_block() -> None:
    call, text_block = actions_of(answer(message={"content": "Hello"}))

    assert call.output == {"content": [text("Hello")], "stop_reason": None}
    assert text_block.output == "Hello"


@pytest.mark.parametrize("content", [[], None, {"type": "text"}])
def test_an_answer_without_blocks_has_no_children(content: Any) -> None:
    (call,) = actions_of(answer(message={"content": content}))

    assert call.output == {"content": [], "stop_reason": None}


def test_a_block_repeated_on_a_later_line_of_its_answer_counts_once() -> None:
    first, rewritten = answer(text("One"), text("One")), answer(text("One"), CALL, uuid="a2")

    call, *children = actions_of(first, rewritten, first)

    assert call.output["content"] == [text("One"), text("One"), CALL]
    assert call.source == [first, rewritten, first]
    assert [each.id for each in children] == ["a1/1", "a1/2", "a2/2"]


def test_lines_between_the_lines_of_an_answer_keep_their_position() -> None:
    found = actions_of(
        answer(text("a")),
        user([result("r", "t0")]),
        answer(CALL, uuid="a2"),
        answer(uuid="b1", message={"id": "m2"}),
    )

    assert [each.id for each in found] == ["a1", "a1/1", "u1/1", "a2/1", "b1"]


def test_answers_without_a_message_id_are_separate_calls() -> None:
    found = actions_of(answer(message={"id": None}), answer(uuid="a2", message={"id": None}))

    assert [(each.kind, each.id) for each in found] == [("llm_call", "a1"), ("llm_call", "a2")]


def recorded(**usage: Any) -> dict[str, Any]:
    return answer(message={"usage": usage})


@pytest.mark.parametrize(
    ("records", "usage"),
    [
        ([answer()], None),
        ([answer(message={"usage": "much"})], None),
        ([recorded()], Usage()),
        (
            [
                recorded(
                    input_tokens=3,
                    cache_creation_input_tokens=20,
                    cache_read_input_tokens=100,
                    output_tokens=7,
                    cache_creation={"ephemeral_5m_input_tokens": 20},
                )
            ],
            Usage(
                input_tokens=123, output_tokens=7, total_tokens=130, cached_tokens=100, cache_write_tokens=20
            ),
        ),
        (
            [recorded(input_tokens=3, output_tokens=7)],
            Usage(input_tokens=3, output_tokens=7, total_tokens=10),
        ),
        ([recorded(output_tokens=7)], Usage(output_tokens=7)),
        ([recorded(input_tokens=3, cache_read_input_tokens=2)], Usage(input_tokens=5, cached_tokens=2)),
        (
            [recorded(input_tokens=3, output_tokens=1), recorded(input_tokens=3, output_tokens=9), answer()],
            Usage(input_tokens=3, output_tokens=9, total_tokens=12),
        ),
        (
            [recorded(input_tokens=3, output_tokens=9), recorded(input_tokens=3, output_tokens=1)],
            Usage(input_tokens=3, output_tokens=9, total_tokens=12),
        ),
        (
            [recorded(input_tokens=3, output_tokens=9), recorded(input_tokens=4, output_tokens=9)],
            Usage(input_tokens=4, output_tokens=9, total_tokens=13),
        ),
        (
            [recorded(output_tokens=7, output_tokens_details={"thinking_tokens": 5})],
            Usage(output_tokens=7, reasoning_tokens=5),
        ),
        ([recorded(input_tokens=-1, output_tokens=True)], Usage()),
        ([recorded(input_tokens=1.5, output_tokens=10**13, cache_read_input_tokens="9")], Usage()),
        (
            [recorded(input_tokens=3, output_tokens=7, cache_read_input_tokens="100")],
            Usage(output_tokens=7),
        ),
    ],
)
def test_usage_is_taken_from_the_most_complete_line_and_counts_cached_tokens_as_read(
    records: list[dict[str, Any]], usage: Usage | None
) -> None:
    assert actions_of(*records)[0].usage == usage


@pytest.mark.parametrize(
    ("cache_creation", "parameters"),
    [
        ({"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6}, {"cache_write_1h_tokens": 6}),
        ({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0}, None),
        ({"ephemeral_1h_input_tokens": "6"}, None),
        (None, None),
    ],
)
def test_tokens_cached_for_an_hour_are_recorded_with_the_call(
    cache_creation: dict[str, Any] | None, parameters: dict[str, int] | None
) -> None:
    spent = recorded(output_tokens=1, cache_creation_input_tokens=10, cache_creation=cache_creation)
    assert actions_of(spent)[0].parameters == parameters


@pytest.mark.parametrize(
    ("record", "model", "error"),
    [
        (answer(text("Fine")), "anthropic:claude-x", (None, None)),
        (answer(text("Fine"), message={"model": None}), None, (None, None)),
        (
            answer(text("API Error: 529"), message={"model": "<synthetic>"}),
            None,
            ("api_error", "API Error: 529"),
        ),
        (
            answer(
                text("Limit"),
                text("reached"),
                message={"model": "<synthetic>"},
                error="rate_limit",
                isApiErrorMessage=True,
            ),
            None,
            ("rate_limit", "Limit\nreached"),
        ),
        (
            answer(text("No response"), message={"model": "<synthetic>"}, isApiErrorMessage=False),
            None,
            (None, None),
        ),
        (answer(isApiErrorMessage=True), "anthropic:claude-x", ("api_error", None)),
    ],
)
def test_a_synthetic_answer_has_no_model_and_records_the_error(
    record: dict[str, Any], model: str | None, error: tuple[str | None, str | None]
) -> None:
    call = actions_of(record)[0]

    assert (call.kind, call.model) == ("llm_call", model)
    assert (call.error_type, call.error_message) == error
