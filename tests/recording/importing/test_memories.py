"""memvid, devduck, AgentOS and Dakera: how their records are imported."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recording.importing.every_format.test_laws import ODD, is_valid_outcome, read_or_reason
from tests.recording.importing.sample_files import archive, document, lines
from tests.recording.importing.samples import AGENTOS, DAKERA, DEVDUCK, MEMVID
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.zip_files import Archive
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, Usage


def read(name: str, value: Any) -> ParsedFile:
    return FORMATS[name].read(value if isinstance(value, bytes) else document(value))


def outline(actions: tuple[ActionDraft, ...]) -> list[tuple[str, str | None]]:
    return [(each.kind, each.tool or each.name) for each in actions]


def test_a_session_of_memvid_has_its_finds_asks_and_checkpoints() -> None:
    result = read("memvid", MEMVID)
    (session,) = result.sessions
    assert outline(session.actions) == [
        ("put", None),
        ("find", None),
        ("ask", None),
        ("checkpoint", None),
        ("tool_call", "ls"),
        ("memory_op", "delete"),
        ("event", "rest"),
        ("ask", None),
        ("checkpoint", "before"),
        ("event", "session"),
    ]
    put, found, ask, checkpoint = session.actions[:4]
    assert put.input == "Zoë is 7."
    assert found.input == "who is 7"
    assert found.retrieval is not None
    assert (found.retrieval.mode, found.retrieval.hits) == ("lexical", (HitDraft(rank=1, frame=4),))
    assert (ask.model, ask.output, session.actions[7].model) == ("openai:gpt-x", "Zoë", "gpt-x")
    assert checkpoint.output == {"frame_count": 1}
    assert (session.key, session.name) == ("0a1b", "First look")
    assert result.report.notes == [
        "1 checkpoint repeated an action. Each is stored in the source of that action.",
    ]


def test_records_that_are_not_memvid_actions_are_skipped() -> None:
    result = read("memvid", MEMVID | {"actions": [7, {"action_type": {"Find": 7}}], "checkpoints": [8, {}]})
    assert len(result.report.skipped) == 3
    with pytest.raises(InvalidInput, match="it has no `actions`"):
        read("memvid", {"session_id": "x"})


def test_a_devduck_recording_is_read_without_opening_its_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    reading = Archive.read

    def noting_read(archive: Archive, name: str) -> bytes:
        opened.append(name)
        return reading(archive, name)

    monkeypatch.setattr(Archive, "read", noting_read)
    result = read("devduck", DEVDUCK)
    (session,) = result.sessions
    assert sorted(opened) == ["events.jsonl", "metadata.json", "snapshots.json"]
    assert [(each.kind, each.layer, each.role, each.tool or each.name) for each in session.actions] == [
        ("event", "sys", "system", "file.open"),
        ("message", "agent", "user", None),
        ("tool_call", "tool", "agent", "find_user"),
        ("tool_result", "tool", "tool", "find_user"),
        ("checkpoint", "sys", "system", "after"),
        ("message", "agent", "agent", None),
        ("event", "sys", "system", "unknown"),
        ("checkpoint", "agent", "agent", "after"),
        ("event", "sys", "system", "metadata"),
    ]
    returned = session.actions[3]
    assert (returned.parent, returned.duration_ms, returned.error_message) == (
        session.actions[2].id,
        12,
        "no 7",
    )
    assert (session.key, session.name, session.metadata["version"]) == ("dd1", "Who is 7?", "1")
    assert "was not opened" in result.report.notes[0]
    assert [each.reason[:10] for each in result.report.skipped] == ["It is trun"]


def test_a_devduck_recording_needs_only_events() -> None:
    event = {"type": "tool.result", "data": {"error": "gone"}}
    result = read("devduck", archive({"d/events.jsonl": lines(event), "d/snapshots.json": [7, {"id": "x"}]}))
    (session,) = result.sessions
    assert session.key.startswith("devduck-")
    assert (session.actions[0].error_message, session.actions[0].output) == ("gone", None)
    assert len(result.report.skipped) == 1
    for members in ({"session.pkl": b"x"}, {"events.jsonl": b"{half"}):
        with pytest.raises(InvalidInput, match="Found: "):
            read("devduck", archive(members))
    with pytest.raises(InvalidInput, match="Cannot open this archive"):
        read("devduck", DEVDUCK[:-30])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "layer", "timestamp", "data", "duration_ms"]), st.sampled_from(ODD)
        )
    ),
    st.sampled_from(ODD),
    st.sampled_from(ODD),
)
def test_a_devduck_recording_with_odd_values_is_read_or_refused(
    events: Any, snapshots: Any, metadata: Any
) -> None:
    members = {"events.jsonl": lines(*events), "snapshots.json": snapshots, "metadata.json": metadata}
    is_valid_outcome(
        read_or_reason("devduck", archive({name: _bytes(value) for name, value in members.items()}))
    )


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def test_agentos_entries_are_ordered_by_number() -> None:
    one, two = read("agentos", lines(*AGENTOS)).sessions
    assert outline(one.actions) == [
        ("llm_call", None),
        ("tool_call", "find_user"),
        ("tool_result", "find_user"),
        ("memory_op", None),
    ]
    call, made, returned, stored = one.actions
    assert (call.model, call.usage, call.cost_usd) == (
        "openai:gpt-x",
        Usage(input_tokens=50, output_tokens=5),
        Decimal("0.001"),
    )
    assert (call.duration_ms, call.iteration, call.output) == (800, 1, "I look.")
    assert (returned.parent, returned.error_type, returned.error_message) == (made.id, "error", "late")
    assert (stored.output, two.actions[0].name, two.actions[0].output) == ({"op": "store"}, "reflect", "Hm")
    report = read("agentos", [*AGENTOS, {"sessionId": "x"}, 7]).report
    assert len(report.skipped) == 2
    with pytest.raises(InvalidInput, match="no record in it has an `action`"):
        read("agentos", [{"sessionId": "x"}])


def test_dakera_memories_are_ordered_by_sequence_and_keep_their_importance() -> None:
    result = read("dakera", DAKERA)
    one, two = result.sessions
    assert [
        (each.kind, each.role, each.output, each.significance, each.importance) for each in one.actions
    ] == [
        ("message", "user", "Who is 7?", "normal", 0.72),
        ("message", "agent", "It is Zoë.", "solution", 0.95),
        ("event", None, "A thought", None, None),
    ]
    assert (one.key, one.agent, one.actions[1].id, one.actions[1].tags) == (
        "dk1",
        "helper",
        "d2",
        ("topic:users",),
    )
    assert two.actions[0].output == "[oracle] ?"
    assert result.report.notes == [
        "1 record of dk1 without `seq:` stayed in file order: 3.",
        f"1 record of {two.key} without `seq:` stayed in file order: 1.",
    ]
    many = read("dakera", [{"content": "x", "tags": ["s", f"{place}:"]} for place in range(30)])
    assert many.report.notes[0].endswith("19, 20….")
    assert len(read("dakera", [*DAKERA, {"id": 1}, 7]).report.skipped) == 2
    with pytest.raises(InvalidInput, match="no record in it has a `content`"):
        read("dakera", [{"id": 1}])
