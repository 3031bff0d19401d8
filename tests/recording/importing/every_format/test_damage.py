"""Every format with damage of a kind at every place where it can be: read and accounted for, or refused with the reason.

Nothing is invented: a message is a user's only if its record says so, and no number is out of range.
"""

import copy
import json
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest

from tests.recording.importing.every_format.test_laws import (
    is_valid_outcome,
    positions,
    read_or_reason,
    values_of,
)
from tests.recording.importing.sample_files import archive
from tests.recording.importing.samples import SAMPLES
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.registry import FORMATS, detect_format
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.pure.draft import ActionDraft

NAMES = sorted(FORMATS)
READABLE = [
    (name, number)
    for name in NAMES
    for number, data in enumerate(SAMPLES[name])
    if not isinstance(read_or_reason(name, data), InvalidInput)
]
GONE = object()
type Change = Callable[[Any], Any]


def null_for_an_object(value: Any) -> Any:
    return None if isinstance(value, dict | list) else value


def number_for_a_text(value: Any) -> Any:
    return 7 if isinstance(value, str) else value


def text_for_a_number(value: Any) -> Any:
    return "7" if isinstance(value, int | float) else value


def nothing(value: Any) -> Any:
    return GONE


def huge_number(value: Any) -> Any:
    return 10**30 if isinstance(value, int | float) and not isinstance(value, bool) else value


def lone_surrogate(value: Any) -> Any:
    return f"{value}\ud800" if isinstance(value, str) else value


def long_text(value: Any) -> Any:
    return value + "x" * 1_001 if isinstance(value, str) else value


def negative_number(value: Any) -> Any:
    return -1 if isinstance(value, int | float) and not isinstance(value, bool) else value


CHANGES: list[Change] = [
    null_for_an_object, number_for_a_text, text_for_a_number, nothing, huge_number, lone_surrogate, negative_number, long_text,
]  # fmt: skip


def members_of(data: bytes) -> dict[str, bytes]:
    """The files of an archive, or the file itself under an empty name."""
    if data[:2] != b"PK":
        return {"": data}
    with zipfile.ZipFile(BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def with_member(data: bytes, name: str, content: bytes) -> bytes:
    return content if name == "" else archive({**members_of(data), name: content})


def changed(data: bytes, change: Change) -> Iterator[tuple[str, bytes]]:
    """Yield the file with the change at each place where it makes a difference, and that place."""
    for member, content in members_of(data).items():
        values = values_of(content) or []
        lines = [json.dumps(value).encode() for value in values]
        for number, value in enumerate(values):
            for at, damaged in damages([value], change):
                written = [
                    *lines[:number],
                    *(json.dumps(each).encode() for each in damaged),
                    *lines[number + 1 :],
                ]
                yield f"{member}:{number}:{at}", with_member(data, member, b"\n".join(written))


def damages(values: list[Any], change: Change) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each key or index where the change makes a difference, and the values while they have it there."""
    for holder, at in positions(values):
        before, after = holder[at], change(holder[at])
        if after is not GONE and (after is before or after == before):
            continue
        order = list(holder.items()) if isinstance(holder, dict) else list(holder)
        if after is GONE:
            del holder[at]
        else:
            holder[at] = after
        yield at, values
        holder.clear()
        holder.update(order) if isinstance(holder, dict) else holder.extend(order)


def is_said_to_be_a_users(action: ActionDraft) -> bool:
    """Whether the record of a user's message says that a user wrote it."""
    written = json.dumps(action.source).lower()
    return action.source is None or any(word in written for word in ("user", "human", "task", "prompt"))


def invents_nothing(outcome: ParsedFile | InvalidInput) -> bool:
    is_valid_outcome(outcome)
    sessions = () if isinstance(outcome, InvalidInput) else outcome.sessions
    actions = (action for session in sessions for action in session.actions)
    return all(
        is_said_to_be_a_users(each) for each in actions if (each.kind, each.role) == ("message", "user")
    )


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_damage_at_any_place_is_read_or_refused(name: str, change: Change) -> None:
    for number, data in enumerate(SAMPLES[name]):
        if (name, number) not in READABLE:
            continue
        for place, damaged in changed(data, change):
            assert invents_nothing(read_or_reason(name, damaged)), (number, place)


@pytest.mark.parametrize(("name", "number"), READABLE)
def test_records_that_occur_twice_have_ids_of_their_own(name: str, number: int) -> None:
    data = SAMPLES[name][number]
    for member, content in members_of(data).items():
        values = values_of(content)
        lists = [values, *(holder[at] for holder, at in positions(values))] if values else []
        for place in [at for at, each in enumerate(lists) if isinstance(each, list) and each]:
            doubled = copy.deepcopy(values)
            twice = [doubled, *(holder[at] for holder, at in positions(doubled))][place]
            twice.append(copy.deepcopy(twice[-1]))
            written = b"\n".join(json.dumps(value).encode() for value in doubled or ())
            is_valid_outcome(read_or_reason(name, with_member(data, member, written)))


def sessions_without_keys(found: ParsedFile) -> list[Any]:
    """The sessions; a key can be a hash of the file."""
    return [
        [
            (each.kind, each.role, each.output, each.usage, each.cost_usd, each.started_at)
            for each in session.actions
        ]
        for session in found.sessions
    ]


@pytest.mark.parametrize("way", ["byte order mark", "CRLF"])
@pytest.mark.parametrize(("name", "number"), READABLE)
def test_a_file_saved_on_windows_is_read_like_the_original(name: str, number: int, way: str) -> None:
    data = SAMPLES[name][number]
    original = FORMATS[name].read(data)
    for member, content in members_of(data).items():
        if not content.strip() or b"\0" in content or member.endswith(".pkl"):
            continue
        saved = b"\xef\xbb\xbf" + content if way == "byte order mark" else content.replace(b"\n", b"\r\n")
        damaged = with_member(data, member, saved)
        if member == "":
            assert detect_format(damaged) == name
        assert sessions_without_keys(FORMATS[name].read(damaged)) == sessions_without_keys(original)


@pytest.mark.parametrize(("name", "number"), READABLE)
def test_a_file_whose_last_line_is_cut_off_says_where(name: str, number: int) -> None:
    data = SAMPLES[name][number]
    if data[:2] == b"PK":
        refused = read_or_reason(name, data[:-20])
        assert isinstance(refused, InvalidInput)
        assert "truncated" in refused.message
        return
    if values_of(data) is None:
        return
    cut = data.rstrip()[:-2].rstrip()
    last = cut.count(b"\n") + 1
    outcome = read_or_reason(name, cut)
    if isinstance(outcome, InvalidInput):
        assert f"line {last}" in outcome.message
    else:
        assert [each.line for each in outcome.report.skipped][-1] == last
        assert "truncated" in outcome.report.skipped[-1].reason
