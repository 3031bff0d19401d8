"""Claude Code lines as actions."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from timemachine.exchange.claude_code import read
from timemachine.recording.draft import ActionDraft, Usage

WHEN = "2026-03-01T10:00:00Z"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR" * 50_000}}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}


def line(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": "s1", **fields}


def user(content: Any, uuid: str = "u1", **fields: Any) -> dict[str, Any]:
    return line("user", uuid=uuid, message={"role": "user", "content": content}, **fields)


def answer(
    *content: Any, uuid: str = "a1", message: Mapping[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    whole = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        **(message or {}),
    }
    return line("assistant", uuid=uuid, message=whole, **fields)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def result(content: Any, call_id: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def actions_of(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(b"\n".join(json.dumps(record).encode() for record in records)).sessions
    return session.actions


def test_what_a_person_wrote_is_a_message_of_the_user() -> None:
    record = user("Why does it fail?", timestamp=WHEN, parentUuid=None)

    assert actions_of(record) == (
        ActionDraft(
            kind="message",
            id="u1",
            layer="agent",
            role="user",
            agent="claude-code",
            started_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
            output="Why does it fail?",
            source=record,
        ),
    )


def test_each_block_of_a_user_line_is_an_action_and_the_first_holds_the_line() -> None:
    record = user(
        [text("Look"), IMAGE, {"type": "document", "source": {}}, {"type": "new"}, "bare", {"type": "text"}]
    )

    found = actions_of(record)

    assert [(each.id, each.kind, each.layer, each.role, each.name, each.output) for each in found] == [
        ("u1/1", "message", "agent", "user", None, "Look"),
        ("u1/2", "message", "agent", "user", None, IMAGE),
        ("u1/3", "message", "agent", "user", None, {"type": "document", "source": {}}),
        ("u1/4", "event", "agent", "user", "new", {"type": "new"}),
        ("u1/5", "event", "agent", "user", "unknown", "bare"),
        ("u1/6", "event", "agent", "user", "text", {"type": "text"}),
    ]
    assert [each.source for each in found] == [record, None, None, None, None, None]


@pytest.mark.parametrize(
    ("record", "tags"),
    [
        (user("plain"), ()),
        (user("Caveat", isMeta=True), ("meta",)),
        (user("Continued", isCompactSummary=True), ("meta",)),
        (user("<command-name>/clear</command-name>"), ("command",)),
        (user("\n  <command-message>init</command-message>"), ("command",)),
        (user("<local-command-stdout></local-command-stdout>"), ("command",)),
        (user("<bash-input>ls</bash-input>"), ("command",)),
        (user([text("<local-command-stderr>no</local-command-stderr>")]), ("command",)),
        (user("<command-name>/x</command-name>", isMeta=True), ("meta", "command")),
        (user("about <command-name>"), ()),
        (user("Explore", isSidechain=True), ("sidechain",)),
    ],
)
def test_lines_that_no_person_wrote_are_tagged(record: dict[str, Any], tags: tuple[str, ...]) -> None:
    (found,) = actions_of(record)

    assert (found.kind, found.role, found.tags) == ("message", "user", tags)


def test_the_work_of_a_sidechain_belongs_to_another_agent() -> None:
    found = actions_of(
        user("main"),
        user("side", "u2", isSidechain=True),
        answer(text("done"), isSidechain=True),
        user("main", "u3"),
    )

    assert [each.agent for each in found] == [
        "claude-code",
        "sidechain",
        "sidechain",
        "sidechain",
        "claude-code",
    ]
    assert [each.tags for each in found] == [(), ("sidechain",), ("sidechain",), ("sidechain",), ()]


@pytest.mark.parametrize(
    ("record", "output"),
    [
        (line("summary", summary="Mend the parser", leafUuid="u1"), "Mend the parser"),
        (line("system", content="Compacted", subtype="compact_boundary", uuid="x"), "Compacted"),
        (
            line("system", subtype="turn_duration", durationMs=12, cwd="/app"),
            {"subtype": "turn_duration", "durationMs": 12},
        ),
        (line("file-history-snapshot", messageId="u1", snapshot={"a": 1}), {"a": 1}),
        (line("queue-operation", operation="dequeue"), {"operation": "dequeue"}),
        (line("queue-operation", operation="enqueue", content="wait"), "wait"),
        (line("of-next-year", novelty=[1]), {"novelty": [1]}),
        (line("of-next-year"), None),
        (line("user"), None),
        (line("user", message={"role": "user", "content": []}), {"message": {"role": "user", "content": []}}),
        (line("user", message={"role": "user", "content": 5}), {"message": {"role": "user", "content": 5}}),
        (line("assistant", message="no"), {"message": "no"}),
    ],
)
def test_every_other_line_is_an_event_named_by_its_type(record: dict[str, Any], output: Any) -> None:
    (found,) = actions_of(record)

    assert (found.kind, found.layer, found.role, found.name) == ("event", "sys", "system", record["type"])
    assert found.output == output
    assert found.source == record


@pytest.mark.parametrize(
    ("record", "time"),
    [
        (line("summary", timestamp=WHEN), datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (line("file-history-snapshot", snapshot={"timestamp": WHEN}), datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (line("file-history-snapshot", snapshot="odd"), None),
        (line("system", timestamp="2026-03-01T10:00:00"), None),
        (line("system", timestamp="0001-01-01T00:00:00+23:59"), None),
        (line("system", timestamp=1_772_359_200), None),
    ],
)
def test_an_action_has_the_time_of_its_line_and_none_where_it_has_no_time(
    record: dict[str, Any], time: datetime | None
) -> None:
    assert actions_of(record)[0].started_at == time


def test_an_answer_over_several_lines_is_one_model_call_with_a_child_for_each_block() -> None:
    first = answer({"type": "thinking", "thinking": "Hm.", "signature": "sig"}, timestamp=WHEN)
    second = answer(text("I will read it."), uuid="a2", timestamp="2026-03-01T10:00:01Z")
    third = answer(CALL, uuid="a3", message={"stop_reason": "tool_use"})

    call, thought, said, tool = actions_of(first, second, third)

    assert call == ActionDraft(
        kind="llm_call",
        id="a1",
        layer="agent",
        role="agent",
        agent="claude-code",
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
    assert (said.kind, said.id, said.layer, said.role, said.output) == (
        "message", "a2/1", "agent", "agent", "I will read it.",
    )  # fmt: skip
    assert said.started_at == datetime(2026, 3, 1, 10, 0, 1, tzinfo=UTC)
    assert (tool.kind, tool.id, tool.layer, tool.role, tool.tool, tool.call_id, tool.input, tool.output) == (
        "tool_call", "a3/1", "tool", "agent", "Read", "t1", {"path": "a.py"}, None,
    )  # fmt: skip
    assert {each.parent for each in (thought, said, tool)} == {"a1"}
    assert {each.duration_ms for each in (call, thought, said, tool)} == {None}
    assert [each.source for each in (thought, said, tool)] == [None, None, None]


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
def test_a_block_without_a_readable_text_is_kept_whole(
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


def test_an_answer_whose_content_is_a_text_has_one_text_block() -> None:
    call, said = actions_of(answer(message={"content": "Hello"}))

    assert call.output == {"content": [text("Hello")], "stop_reason": None}
    assert said.output == "Hello"


@pytest.mark.parametrize("content", [[], None, {"type": "text"}])
def test_an_answer_without_blocks_has_no_children(content: Any) -> None:
    (call,) = actions_of(answer(message={"content": content}))

    assert call.output == {"content": [], "stop_reason": None}


def test_a_block_that_is_written_again_on_a_later_line_of_its_answer_counts_once() -> None:
    first, anew = answer(text("One"), text("One")), answer(text("One"), CALL, uuid="a2")

    call, *children = actions_of(first, anew, first)

    assert call.output["content"] == [text("One"), text("One"), CALL]
    assert call.source == [first, anew, first]
    assert [each.id for each in children] == ["a1/1", "a1/2", "a2/2"]


def test_lines_between_the_lines_of_an_answer_stay_where_they_are() -> None:
    found = actions_of(
        answer(text("a")),
        user([result("r", "t0")]),
        answer(CALL, uuid="a2"),
        answer(uuid="b1", message={"id": "m2"}),
    )

    assert [each.id for each in found] == ["a1", "a1/1", "u1/1", "a2/1", "b1"]


def test_answers_without_a_message_id_are_calls_of_their_own() -> None:
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
        ([recorded(input_tokens=-1, output_tokens=True)], Usage()),
        ([recorded(input_tokens=1.5, output_tokens=2**31, cache_read_input_tokens="9")], Usage()),
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
def test_what_was_cached_for_an_hour_is_kept_with_the_call(
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
def test_a_synthetic_answer_has_no_model_and_says_what_failed(
    record: dict[str, Any], model: str | None, error: tuple[str | None, str | None]
) -> None:
    call = actions_of(record)[0]

    assert (call.kind, call.model) == ("llm_call", model)
    assert (call.error_type, call.error_message) == error


def test_a_result_stands_under_its_call_with_the_tool_and_the_line() -> None:
    record = user([result("content of a.py")], toolUseResult={"file": {"numLines": 1}})

    found = actions_of(answer(CALL), record)[-1]

    assert found == ActionDraft(
        kind="tool_result",
        id="u1/1",
        layer="tool",
        role="tool",
        agent="claude-code",
        tool="Read",
        call_id="t1",
        parent="a1/1",
        output="content of a.py",
        source=record,
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (result("No such file", is_error=True), "No such file"),
        (result([text("No such"), IMAGE, "x", text("file")], is_error=True), "No such\nfile"),
        (result([IMAGE], is_error=True), None),
        (result(None, is_error=True), None),
    ],
)
def test_a_result_that_is_an_error_says_so(block: dict[str, Any], message: str | None) -> None:
    (found,) = actions_of(user([block]))

    assert (found.error_type, found.error_message) == ("tool_error", message)
    assert found.output == block["content"]


@pytest.mark.parametrize("flag", [False, None, "true"])
def test_a_result_that_is_no_error_has_none(flag: Any) -> None:
    (found,) = actions_of(user([result([IMAGE], is_error=flag)]))

    assert (found.error_type, found.error_message, found.output) == (None, None, [IMAGE])


def test_a_result_whose_call_is_not_in_the_session_has_no_parent() -> None:
    found = actions_of(answer(CALL), user([result("r", "t9"), result("r", call_id="")]))

    assert [(each.call_id, each.parent, each.tool) for each in found[-2:]] == [
        ("t9", None, None),
        (None, None, None),
    ]


def test_a_result_without_an_id_is_not_put_under_a_call_without_one() -> None:
    found = actions_of(answer({"type": "tool_use", "name": "Read"}), user([{"type": "tool_result"}]))

    assert (found[-1].parent, found[-1].tool, found[-1].output) == (None, None, None)


def test_a_result_that_comes_before_its_call_stands_under_the_first_one() -> None:
    found = actions_of(
        user([result("early")]),
        answer(CALL),
        answer({**CALL, "name": "Write"}, uuid="b1", message={"id": "m2"}),
    )

    assert (found[0].parent, found[0].tool) == ("a1/1", "Read")


def test_each_result_of_a_call_id_that_is_used_twice_stands_under_the_call_before_it() -> None:
    found = actions_of(
        answer(CALL),
        user([result("one")]),
        answer(CALL, uuid="b1", message={"id": "m2"}),
        user([result("two")], "u2"),
    )

    assert [(each.output, each.parent) for each in found if each.kind == "tool_result"] == [
        ("one", "a1/1"),
        ("two", "b1/1"),
    ]


def test_ids_are_unique_where_lines_repeat_their_uuid() -> None:
    found = actions_of(
        user("a"), user("b"), user("c", "u1~2"), user("d"), user([text("e")]), user([text("f")])
    )

    assert [each.id for each in found] == ["u1", "u1~2", "u1~2~2", "u1~3", "u1/1", "u1/1~2"]


@pytest.mark.parametrize("uuid", [None, "", 7, "x" * 151])
def test_a_line_without_a_usable_uuid_is_named_by_its_hash(uuid: Any) -> None:
    record = line("system", content="Compacted", uuid=uuid)
    (alone,), (_, moved) = actions_of(record), actions_of(user("before"), record)

    assert alone.id is not None
    assert alone.id.startswith("line-")
    assert alone.id == moved.id
