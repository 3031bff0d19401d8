"""The next lines of a transcript in JSON lines, and what is recorded of it."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from timemachine.client.watching.state import States, mark_before

SETTLED_SECONDS: Final = 60.0
_LEVELS: Final = (2.0, SETTLED_SECONDS)
"""The server settles more after so many seconds without a new line."""
_PART_BYTES: Final = 1024 * 1024
_FIRST_PART_BYTES: Final = 8 * 1024 * 1024
_BEGINS_FOR: Final = 10.0
"""A file can begin with the copied lines of the session that it continues. They are sent together, as soon as the file rests, or after
so many seconds: only together they show which session that is."""
_LARGEST_PART: Final = 48 * 1024 * 1024
_NOT_TEXT: Final = "This line is not UTF-8 text."
_PROGRESS: Final = re.compile(r'"type"\s*:\s*"progress"')
_NAMED_AGENT: Final = re.compile(r'"agentId"\s*:\s*"([^"]{1,100})"|agentId: ([A-Za-z0-9_-]{1,100})')

type Send = Callable[[list[str], int, dict[str, int], float], Any]
"""Sends lines, how many of them are repeated, the position and the seconds since the file grew; returns the response."""


@dataclass(slots=True)
class Lines:
    """One transcript. `edit` returns what may be sent of a line."""

    path: Path
    states: States
    edit: Callable[[str, set[str]], str]
    part: int = _FIRST_PART_BYTES
    seen: tuple[int, int] | None = None
    """The size when it was last sent, and how many levels of rest had passed."""
    grown: tuple[int, float] | None = None
    """The latest size, and when it grew to it, on the monotonic clock."""
    found: float = field(default_factory=time.monotonic)

    @property
    def is_resting(self) -> bool:
        """Return whether the file rested long enough for an answer to be complete."""
        return self.seen is not None and self.seen[1] > 0

    def is_due(self, stat: os.stat_result) -> bool:
        """Return whether there is something to send: it grew, or rested long enough to settle more."""
        return self.seen != self._rest(stat)

    def _rest(self, stat: os.stat_result) -> tuple[int, int]:
        idle = self._idle(stat)
        return stat.st_size, sum(idle >= level for level in _LEVELS)

    def _idle(self, stat: os.stat_result) -> float:
        """Return the seconds since the file grew: as seen here, before that by the time of the file."""
        if self.grown is None:
            self.grown = stat.st_size, time.monotonic() - max(0.0, time.time() - stat.st_mtime)
        elif self.grown[0] != stat.st_size:
            self.grown = stat.st_size, time.monotonic()
        return time.monotonic() - self.grown[1]

    def send(self, send: Send) -> Any | None:
        """Send the next part. Returns the response, None if nothing was to be sent.

        Raises `OSError` if the file cannot be read, and what `send` raises: then the same part is next.
        """
        with self.path.open("rb") as file:
            stat = os.fstat(file.fileno())
            state = self.states.of(self.path, stat.st_dev, stat.st_ino)
            if stat.st_size < state.offset or (
                state.offset and mark_before(file, state.offset) != state.mark
            ):
                state.forget()
            rest, idle = self._rest(stat), self._idle(stat)
            new, is_end = _next_lines(file, state.offset, self.part, whole=idle >= SETTLED_SECONDS)
            if is_end and not state.offset and not rest[1] and time.monotonic() - self.found < _BEGINS_FOR:
                return None
            if not new:
                self.seen = rest if is_end else self.seen
                return None
            places = [*map(tuple, state.needed), *new]
            hidden = set(state.hidden)
            texts = [self.edit(_text(file, *place), hidden) for place in places]
            answer = send(texts, len(state.needed), state.position, idle if is_end else 0.0)
            recorded = answer["lines"]
            if recorded > len(state.needed):
                state.offset = places[recorded - 1][1]
                state.mark = mark_before(file, state.offset)
                state.needed = [places[number - 1] for number in answer["needed"]]
                state.position = answer["position"]
                state.hidden = sorted(hidden)
                state.agents = sorted({*state.agents, *_agents_in(texts[:recorded])})
                self.states.save(state)
                self.part = _PART_BYTES
            elif not is_end:
                self.part = min(self.part * 2, _LARGEST_PART)
            self.seen = rest if is_end else None
            return answer


def _next_lines(file: BinaryIO, offset: int, most: int, *, whole: bool) -> tuple[list[tuple[int, int]], bool]:
    """Return the first byte and the end of each complete line from the offset on, at least one and of about so many bytes together, and
    whether these are all. With `whole`, a last line without a line end counts."""
    file.seek(offset)
    places: list[tuple[int, int]] = []
    at = offset
    while at - offset < most:
        line = file.readline()
        if not line or not (line.endswith(b"\n") or whole):
            return places, True
        places.append((at, at + len(line)))
        at += len(line)
    return places, not file.read(1)


def _text(file: BinaryIO, start: int, end: int) -> str:
    file.seek(start)
    try:
        return file.read(end - start).decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        return _NOT_TEXT


def _agents_in(lines: list[str]) -> set[str]:
    """Return the sub-agents whose results the lines have."""
    results = [line for line in lines if '"tool_result"' in line and not _PROGRESS.search(line)]
    return {one or other for line in results for one, other in _NAMED_AGENT.findall(line)}
