"""Turns that a person went back behind: they are in the file, but not in the conversation as it ended.

`parentUuid` links the lines into a tree. After a rewind the next prompt hangs under an earlier line, so that this line has two
continuations, and the conversation is the one that leads to the file's last line. Not every fork is a rewind: tools called at
the same time hang their results under several lines of one answer, and Claude Code reads all of them. So only a continuation
that begins with a prompt of the user was left behind.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final

from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.claude_code.queue import holds_result, is_by_a_person
from timemachine.recording.importing.pure.values import record_at, text_at, text_of_content

_NOT_TYPED: Final = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "[Request interrupted by user")


class _Place(Enum):
    """Where a line is: in the conversation, in a turn that was left, or in neither, because its tree is not connected."""

    KEPT = auto()
    LEFT = auto()
    APART = auto()


def rewound_in(lines: Sequence[Line]) -> frozenset[int]:
    """Return the numbers of the lines of one session that a person went back behind."""
    own = [line for line in lines if line.record.get("isSidechain") is not True]
    tree: dict[str, Line] = {}
    for line in own:
        if uuid := text_at(line.record, "uuid"):
            tree.setdefault(uuid, line)
    last = next((line for line in reversed(own) if _is_spoken(line) and _node(line, tree) is line), None)
    if last is None:
        return frozenset()
    way = list(_way_up(last, tree, {}))
    places = {line.number: _Place.KEPT for line in way}
    places |= dict.fromkeys(_rest_of_answers(own, places), _Place.KEPT)
    continued = {text_at(line.record, "parentUuid") for line in own}
    for line in tree.values():
        _place(line, tree, places, beginning=way[-1], continued=continued)
    return frozenset(number for number, place in places.items() if place is _Place.LEFT)


def _place(
    line: Line,
    tree: Mapping[str, Line],
    places: dict[int, _Place],
    *,
    beginning: Line,
    continued: set[str | None],
) -> None:
    """Set the place of a line and of those above it."""
    way = list(_way_up(line, tree, places))
    if not way:
        return
    above = _above(way[-1], tree)
    place = _Place.APART if above is None else places.get(above.number, _Place.APART)
    if above is None and _is_earlier_beginning(way[-1], beginning, continued):
        place = _Place.LEFT
    for each in reversed(way):
        if place is _Place.KEPT and _is_prompt(each):
            place = _Place.LEFT
        places[each.number] = place


def _way_up(line: Line, tree: Mapping[str, Line], places: Mapping[int, _Place]) -> Iterator[Line]:
    """Yield the line and those above it, until one that has a place."""
    seen: set[int] = set()
    at: Line | None = line
    while at is not None and at.number not in places and at.number not in seen:
        seen.add(at.number)
        yield at
        at = _above(at, tree)


def _above(line: Line, tree: Mapping[str, Line]) -> Line | None:
    """Return the line above: after the context was compacted, `logicalParentUuid` names it."""
    return tree.get(text_at(line.record, "parentUuid", "logicalParentUuid") or "")


def _rest_of_answers(own: Sequence[Line], kept: Mapping[int, _Place]) -> Iterator[int]:
    """Yield the other lines of answers in the conversation, and the results of the tools that they called."""
    answers = {_message_id(line) for line in own if line.number in kept} - {None}
    rest = {text_at(line.record, "uuid") for line in own if _message_id(line) in answers}
    for line in own:
        is_result = holds_result(_message(line).get("content"))
        if _message_id(line) in answers or (is_result and text_at(line.record, "parentUuid") in rest):
            yield line.number


def _is_earlier_beginning(line: Line, beginning: Line, continued: set[str | None]) -> bool:
    """Return whether a conversation began with this prompt, and began again with a later one."""
    return (
        line.number < beginning.number
        and text_at(line.record, "uuid") in continued
        and all(_is_prompt(each) and each.record.get("parentUuid", 0) is None for each in (line, beginning))
    )


def _is_prompt(line: Line) -> bool:
    """Return whether a person typed the line."""
    record = line.record
    inserted = record.get("isMeta") is True or record.get("isCompactSummary") is True
    if record["type"] != "user" or inserted or not is_by_a_person(record):
        return False
    content = _message(line).get("content")
    text = (text_of_content(content) or "").strip()
    return bool(content) and not holds_result(content) and not text.startswith(_NOT_TYPED)


def _is_spoken(line: Line) -> bool:
    return line.record["type"] in {"user", "assistant"}


def _node(line: Line, tree: Mapping[str, Line]) -> Line | None:
    return tree.get(text_at(line.record, "uuid") or "")


def _message(line: Line) -> Mapping[str, Any]:
    return record_at(line.record, "message")


def _message_id(line: Line) -> str | None:
    return text_at(_message(line), "id") if line.record["type"] == "assistant" else None
