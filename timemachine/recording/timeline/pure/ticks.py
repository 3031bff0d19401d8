"""The labelled marks of an axis: clock times, elapsed time or numbers of steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Final

from timemachine.recording.timeline.pure.axis import COLUMNS, Axis

MOST_TICKS: Final = 8
APART: Final = 52.0
"""Columns between two labels."""
DAY: Final = 86_400
CLOCK: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY)
ELAPSED_UP_TO: Final = 10.0
"""An axis of fewer seconds has elapsed times: clock times would all be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label at a column."""

    at: float
    label: str


def time_ticks(axis: Axis) -> list[Tick]:
    """Return clock times in UTC, the first of each day with its date; elapsed times for a few seconds."""
    if 0 < axis.shown < ELAPSED_UP_TO and not axis.gaps:
        return _elapsed(axis)
    wide = axis.shown / MOST_TICKS
    every = next((each for each in CLOCK if each >= wide), ceil(wide / DAY) * DAY)
    ticks: list[Tick] = []
    day = ""
    for moment in _moments(axis, every):
        at = axis.place(moment)
        if _fits(at, ticks):
            label, day = _clock(moment, day, every)
            ticks.append(Tick(at=at, label=label))
    return ticks


def step_ticks(axis: Axis) -> list[Tick]:
    """Return numbers of steps: the first one and round ones, each in the middle of its step."""
    first, last = int(axis.begins) + 1, int(axis.ends)
    every = _round_up((last - first + 1) / MOST_TICKS)
    ticks: list[Tick] = []
    for step in (first, *range((first // every + 1) * every, last + 1, every)):
        at = axis.place(step - 0.5)
        if _fits(at, ticks):
            ticks.append(Tick(at=at, label=f"{step:,}"))
    return ticks


def _elapsed(axis: Axis) -> list[Tick]:
    every = _round_up(axis.shown * 1_000 / MOST_TICKS)
    count = int(axis.shown * 1_000 / every)
    return [
        Tick(at=at, label=f"+{number * every:,} ms" if every < 1_000 else f"+{number * every / 1_000:g} s")  # noqa: PLR2004
        for number in range(count + 1)
        if (at := axis.place(axis.begins + number * every / 1_000)) <= COLUMNS - APART / 2 or not number
    ]


def _moments(axis: Axis, every: int) -> Iterator[float]:
    """Yield the begin of each segment and the round times inside it."""
    for segment in axis.segments:
        yield segment.begins
        moment = (segment.begins // every + 1) * every
        while moment < segment.ends:
            yield moment
            moment += every


def _fits(at: float, ticks: list[Tick]) -> bool:
    return not ticks or (at - ticks[-1].at >= APART and at <= COLUMNS - APART / 2)


def _clock(moment: float, day: str, every: int) -> tuple[str, str]:
    """Return the label of a moment, with the date if it is not that day, and its day."""
    utc = datetime.fromtimestamp(moment, UTC)
    today = f"{utc.day} {utc:%b}"
    exact = every < 60 or moment % 60 >= 1  # noqa: PLR2004
    time = f"{utc:%H:%M:%S}" if exact else f"{utc:%H:%M}"
    return (time if today == day else f"{today} {time}"), today


def _round_up(number: float) -> int:
    """Return the next number that is 1, 2 or 5 with zeros."""
    size = 1
    while True:
        for digit in (1, 2, 5):
            if digit * size >= number:
                return digit * size
        size *= 10
