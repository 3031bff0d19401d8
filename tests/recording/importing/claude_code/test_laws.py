"""Properties of any file read as a Claude Code session."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.formats.claude_code import recognises
from timemachine.recording.importing.pure.reader import opening_of
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.pure.vocabulary import KINDS, LAYERS, ROLES

TEXT = st.text(st.characters(codec=None), max_size=6)
SCALAR = st.sampled_from([None, True, 0, -1, 2**70, 1.5, "", "\x00", "\ud800"]) | TEXT
JSON = SCALAR | st.lists(SCALAR, max_size=2) | st.dictionaries(TEXT, st.lists(SCALAR, max_size=2), max_size=2)
ID = st.sampled_from(["a", "b", "a~2", "a/1", "not a key"]) | JSON
BLOCK_TYPES = ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "new"]
BLOCK_FIELDS = ("text", "thinking", "id", "name", "input", "tool_use_id", "content", "is_error")
LINE_TYPES = ["user", "assistant", "summary", "system", "file-history-snapshot"]
LINE_FIELDS = (
    "uuid", "sessionId", "session_id", "leafUuid", "messageId", "timestamp", "isMeta", "isSidechain", "summary",
    "snapshot", "isApiErrorMessage", "error", "cwd",
)  # fmt: skip


def some(fields: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(fields), values, max_size=4)


def typed(types: list[str], fields: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda kind, rest: {**rest, "type": kind}, st.sampled_from(types) | JSON, fields)


BLOCK = typed(BLOCK_TYPES, some(BLOCK_FIELDS, ID)) | JSON
USAGE = (
    some(("input_tokens", "output_tokens", "cache_read_input_tokens"), st.integers(-1, 2**40) | JSON) | JSON
)
MESSAGE = st.fixed_dictionaries(
    {"content": st.lists(BLOCK, max_size=3) | JSON, "id": ID, "usage": USAGE},
    optional={"model": st.sampled_from(["claude-x", "<synthetic>"]) | JSON, "stop_reason": JSON},
)
LINE = st.builds(
    lambda line, message: {**line, "message": message},
    typed(LINE_TYPES, some(LINE_FIELDS, ID)),
    MESSAGE | JSON,
)
WRITTEN = (LINE | JSON).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=12)


def read_or_refuse(data: bytes) -> ParsedFile | None:
    try:
        return FORMATS["claude_code"].read(data)
    except InvalidInput:
        return None


def stored_lines(result: ParsedFile) -> list[dict[str, Any]]:
    """The lines stored in sources, each as often as actions contain it."""
    sources = [action.source for session in result.sessions for action in session.actions if action.source]
    return [line for source in sources for line in (source if isinstance(source, list) else [source])]


@settings(max_examples=60, deadline=None)
@given(st.lists(WRITTEN, max_size=5))
def test_every_line_is_in_one_action_or_skipped_with_a_reason(written: list[bytes]) -> None:
    data = b"\n".join(written)
    result = read_or_refuse(data)
    if result is None:
        return

    report = result.report
    assert len(stored_lines(result)) + len(report.skipped) == report.lines
    assert report.lines == sum(
        1 for line in data.split(b"\n") if line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
    )
    assert all(
        each.reason.endswith(".") and 1 <= each.line <= data.count(b"\n") + 1 for each in report.skipped
    )
    assert sum(report.became.values()) == sum(len(session.actions) for session in result.sessions)


@settings(max_examples=60, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=5))
def test_every_object_with_a_type_is_stored_unchanged(records: list[dict[str, Any]]) -> None:
    result = read_or_refuse(b"\n".join(json.dumps(record).encode() for record in records))
    expected = [record for record in records if isinstance(record["type"], str)]

    stored = stored_lines(result) if result else []
    skipped = result.report.skipped if result else []
    repeated = [records[each.line - 1] for each in skipped if each.reason.startswith("It repeats line")]
    assert all(each in stored for each in repeated)
    assert sorted(map(json.dumps, [*stored, *repeated])) == sorted(map(json.dumps, expected))


@settings(max_examples=60, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=5))
def test_sessions_and_ids_are_unique_and_parents_are_actions_of_the_session(
    records: list[dict[str, Any]],
) -> None:
    result = read_or_refuse(b"\n".join(json.dumps(record).encode() for record in records))
    sessions = result.sessions if result else ()

    assert len({session.key for session in sessions}) == len(sessions)
    for session in sessions:
        ids = [action.id for action in session.actions]
        assert len(set(ids)) == len(ids)
        assert {action.parent for action in session.actions} <= {None, *ids}
        assert session.name
        for action in session.actions:
            assert action.kind in KINDS
            assert action.layer in LAYERS
            assert action.role in ROLES
            assert action.duration_ms is None


@settings(max_examples=50, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=4), st.data())
def test_a_truncated_file_keeps_all_its_complete_lines(
    records: list[dict[str, Any]], data: st.DataObject
) -> None:
    complete = b"\n".join(json.dumps(record).encode() for record in records)
    cut = complete[: data.draw(st.integers(0, len(complete)))]
    before = cut.count(b"\n")

    result = read_or_refuse(cut)

    expected = [record for record in records[:before] if isinstance(record["type"], str)]
    stored = [json.dumps(line) for line in (stored_lines(result) if result else [])]
    assert all(json.dumps(record) in stored for record in expected)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60))
def test_recognising_any_bytes_does_not_fail(data: bytes) -> None:
    assert recognises(opening_of(data)) in {True, False}
    read_or_refuse(data)
