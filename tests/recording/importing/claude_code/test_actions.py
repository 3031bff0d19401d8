"""Claude Code lines as actions: user messages, tags, times and names."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import (
    IMAGE,
    WHEN,
    actions_of,
    answer,
    line,
    session_of,
    sessions_of,
    text,
    user,
)
from timemachine.recording.sessions.pure.draft import ActionDraft


def test_text_written_by_a_person_is_a_user_message() -> None:
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


def test_each_block_of_a_user_line_is_an_action_and_the_first_has_the_line_as_source() -> None:
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
        (user("Continued", isCompactSummary=True), ("meta", "compaction")),
        (user("<command-name>/clear</command-name>"), ("command",)),
        (user("\n  <command-message>init</command-message>"), ("command",)),
        (user("<local-command-stdout></local-command-stdout>"), ("command",)),
        (user("<bash-input>ls</bash-input>"), ("command",)),
        (user([text("<local-command-stderr>no</local-command-stderr>")]), ("command",)),
        (user("<command-name>/x</command-name>", isMeta=True), ("meta", "command")),
        (user("about <command-name>"), ()),
        (user("Done", origin={"kind": "task-notification"}), ("meta",)),
        (user("By hand", origin={"kind": "human"}), ()),
    ],
)
def test_user_lines_not_written_by_a_person_are_tagged(record: dict[str, Any], tags: tuple[str, ...]) -> None:
    (found,) = actions_of(record)

    assert (found.kind, found.role, found.tags) == ("message", "user", tags)


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
def test_an_action_has_the_time_of_its_line_if_any(record: dict[str, Any], time: datetime | None) -> None:
    assert actions_of(record)[0].started_at == time


def test_ids_are_unique_even_if_lines_repeat_their_uuid() -> None:
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


@pytest.mark.parametrize(
    ("forked", "copied_from"),
    [
        ({"sessionId": "first", "messageUuid": "old"}, {"session": "first", "step": "old"}),
        ({"sessionId": "first"}, {"session": "first", "step": None}),
        ({"sessionId": "first", "messageUuid": "x" * 151}, {"session": "first", "step": None}),
        ({"messageUuid": "old"}, None),
        ("first", None),
    ],
)
def test_lines_of_a_fork_are_copies_of_those_that_they_name(forked: Any, copied_from: Any) -> None:
    (found,) = actions_of(user("Begin", forkedFrom=forked))

    assert found.copied_from == copied_from


def test_each_step_of_a_copied_line_names_its_original() -> None:
    session = session_of(
        answer(text("One"), text("Two"), forkedFrom={"sessionId": "first", "messageUuid": "old"}),
        user("Go on", "u2", parentUuid="a1"),
    )

    assert [each.copied_from and each.copied_from["step"] for each in session.actions] == [
        "old", "old/1", "old/2", None,
    ]  # fmt: skip
    assert session.forked_from == "first"


def test_lines_that_follow_those_of_another_session_go_on_from_it() -> None:
    records = [user("Begin"), user("Go on", "u2", parentUuid="u1") | {"sessionId": "s2"}]
    first, second = sessions_of(*records)

    assert (first.forked_from, second.forked_from) == (None, "s1")
