"""How many lines of a growing file are settled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.contents import Line, lines_of
from timemachine.recording.importing.pure.registry import Format
from timemachine.recording.importing.pure.report import ImportReportOut, ParsedFile
from timemachine.recording.sessions.pure.draft import ActionDraft

FINISHED_AFTER: Final = 2.0
"""Seconds without a new line after which an answer that says why it stopped is complete: its lines are written together."""
SETTLED_AFTER: Final = 60.0
"""Seconds without a new line after which everything is settled."""
_MOST_TRIES: Final = 25
_MOST_HELD: Final = 2_000
"""Lines that are held at most while an earlier place is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What is known of a format whose files grow.

    `held_from` returns the index of the first line that later lines may change, given the seconds since the file last grew;
    `needed` the indexes of the lines that the reading of later lines depends on.
    """

    held_from: Callable[[Sequence[Line], float], int]
    needed: Callable[[Sequence[Line]], set[int]]


def good_lines(lines: Sequence[str]) -> list[Line]:
    """Return the lines that are JSON objects, numbered from 1 among all."""
    return [each for each in lines_of(as_data(lines)) if isinstance(each, Line)]


def as_data(lines: Sequence[str]) -> bytes:
    """Return the lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def settled_lines(
    written: Format, growth: Growth, lines: Sequence[str], *, repeated: int, idle: float
) -> int:
    """Return how many of the lines are settled; the first `repeated` ones are.

    A place is right if what the lines before it become is the beginning of what all lines become.
    """
    if idle >= SETTLED_AFTER:
        return len(lines)
    good = good_lines(lines)
    held = growth.held_from(good, idle)
    latest = len(lines) if held == len(good) else good[held].number - 1
    whole = _actions(written, lines)
    places = [each.number - 1 for each in good if repeated < each.number - 1 < latest]
    for place in islice([latest, *reversed(places)], _MOST_TRIES):
        if place <= repeated:
            break
        begun = _actions(written, lines[:place])
        if begun and all(whole.get(key, ())[: len(made)] == made for key, made in begun.items()):
            return place
    return max(latest, repeated) if len(lines) - repeated > _MOST_HELD else repeated


def _actions(written: Format, lines: Sequence[str]) -> dict[str, tuple[ActionDraft, ...]]:
    return {session.key: session.actions for session in read_lines(written, lines).sessions}


def read_lines(written: Format, lines: Sequence[str]) -> ParsedFile:
    """Return what the lines become; nothing if none of them can be used."""
    try:
        return written.read(as_data(lines))
    except InvalidInput:
        return ParsedFile(
            sessions=(), report=ImportReportOut.model_construct(lines=0, became={}, skipped=[], notes=[])
        )
