"""Properties of every format and any file read in it."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recording.importing.samples import SAMPLES
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.reader import opening_of
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.pure.validation import KEY, check_action

NAMES = sorted(FORMATS)
ODD: list[Any] = [
    None, True, -1, 0, 7, 2**70, 10**400, 1.5, -0.5, 1e308, "", "x", "\x00", "\ud800", "x" * 1001, "2026-03-01T10:00:00",
    "2026-03-01T10:00:00Z", "0001-01-01T00:00:00+23:59", "{", "[1]", '{"a": 1}', [], {}, [None], ["x"], [{}], {"x": {}},
    [[{"role": "user"}]], "user", "assistant", {"role": "assistant"}, 1_772_359_200_000,
]  # fmt: skip


def positions(value: Any) -> list[tuple[Any, Any]]:
    """Every position inside a document: its container and the key or index in it."""
    found = []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in list(inside):
        found.append((value, name))
        found += positions(inner)
    return found


def values_of(data: bytes) -> list[Any] | None:
    """The documents of a JSON lines file, or the single document of a JSON file; None for anything else."""
    try:
        return [json.loads(data)]
    except ValueError:
        try:
            return [json.loads(line) for line in data.splitlines()]
        except ValueError:
            return None


TEXTS = [
    (name, values)
    for name, files in SAMPLES.items()
    for data in files
    if (values := values_of(data)) is not None
]


def record_count(result: ParsedFile) -> int:
    """The number of records in the sources."""
    sources = [a.source for session in result.sessions for a in session.actions if a.source is not None]
    return sum(len(source) if isinstance(source, list) else 1 for source in sources)


def adds_up(result: ParsedFile) -> None:
    """Every record is in one action or skipped, and everything produced can be recorded."""
    report = result.report
    numbered = [session for session in result.sessions if session.numbered]
    if not numbered:  # in our own format a line is an action, with the source that was recorded with it
        assert record_count(result) + len(report.skipped) == report.lines
    assert sum(report.became.values()) == sum(len(session.actions) for session in result.sessions)
    assert all(each.reason.endswith(".") and each.line >= 1 for each in report.skipped)
    assert len({session.key for session in result.sessions}) == len(result.sessions)
    for session in result.sessions:
        assert session.name.strip()
        assert KEY.fullmatch(session.key)
        ids = [action.id for action in session.actions if not session.numbered or action.id is not None]
        assert len(set(ids)) == len(ids)
        if session.numbered:
            assert report.lines == 1 + len(session.actions)
        elif session.traces is None:  # a span that another file has can be a parent
            assert {action.parent for action in session.actions} <= {None, *ids}
        for action in session.actions:
            check_action(action)


def read_or_reason(name: str, data: bytes) -> ParsedFile | InvalidInput:
    """The result of reading the bytes in a format; only a refusal may be raised."""
    try:
        return FORMATS[name].read(data)
    except InvalidInput as why:
        return why


def is_valid_outcome(outcome: ParsedFile | InvalidInput) -> None:
    """Either it adds up, or the file was refused."""
    if isinstance(outcome, InvalidInput):
        assert outcome.code in {"unknown_format", "unsafe_archive"}
    else:
        adds_up(outcome)


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, each in SAMPLES.items() for number in range(len(each))]
)
def test_a_sample_adds_up_and_gives_the_same_sessions_each_time(name: str, number: int) -> None:
    data = SAMPLES[name][number]
    first = read_or_reason(name, data)
    if isinstance(first, InvalidInput):
        assert "truncated" in first.message
    else:
        adds_up(first)
        assert FORMATS[name].read(data) == first


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_file_with_odd_values_at_any_position_is_read_or_refused(data: st.DataObject) -> None:
    name, values = data.draw(st.sampled_from(TEXTS))
    changed = copy.deepcopy(values)
    for _ in range(data.draw(st.integers(1, 4))):
        places = positions(changed)
        holder, at = places[data.draw(st.integers(0, len(places) - 1))] if places else (None, None)
        if isinstance(holder, dict) and data.draw(st.booleans()) and data.draw(st.booleans()):
            del holder[at]
        elif holder is not None:
            holder[at] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    written = b"\n".join(json.dumps(value).encode() for value in changed)
    is_valid_outcome(read_or_reason(name, written))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(NAMES), st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode()))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    opening_of(data)
    is_valid_outcome(read_or_reason(name, data))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_truncated_file_is_read_as_far_as_possible_or_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    complete = data.draw(st.sampled_from(SAMPLES[name]))
    cut = complete[: data.draw(st.integers(0, len(complete)))]
    opening = opening_of(cut)
    assert sum(each.recognises(opening) for each in FORMATS.values()) <= 1
    is_valid_outcome(read_or_reason(name, cut))
