"""A session's minimap as SVG paths: a lane for each kind of work, as high as its share of a column, and above them the errors
and the steps with notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from timemachine.recording.annotations.notes.queries import noted_steps
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.minimap import LANES, Minimap, StepRange, minimap
from timemachine.recording.timeline.pure.filter import Filter

LANE_HEIGHT: Final = 10
LANE_GAP: Final = 2
ERRORS_HEIGHT: Final = 6
TOP: Final = ERRORS_HEIGHT + LANE_GAP
HEIGHT: Final = TOP + len(LANES) * (LANE_HEIGHT + LANE_GAP)
MOST_PINS: Final = 500
PINS_MIDDLE: Final = ERRORS_HEIGHT / 2 + 2
LEAST: Final = 3
"""Minimum height of the bar of a single step, so that it is visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One lane: its name, its path, its number of steps, and the middle of its height."""

    name: str
    path: str
    steps: int
    middle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimapPlot:
    """The drawing: each column of the SVG stands for `steps_per_column` steps, starting at step `first`."""

    first: int
    last: int
    columns: float
    steps_per_column: int
    lanes: Sequence[Lane]
    errors: str
    error_steps: int
    pins: str
    noted: Sequence[int]
    more_noted: bool
    height: int = HEIGHT


def minimap_of(session: Session, shown: Filter) -> MinimapPlot | None:
    """Return the minimap of the steps within a filter; None for a session without steps."""
    steps = shown.steps
    drawn = minimap(session, None if steps is None else StepRange(first=steps[0], last=steps[1]))
    if drawn is None:
        return None
    return plot(drawn, noted_steps(session, drawn.span.first, drawn.span.last, MOST_PINS + 1))


def plot(drawn: Minimap, noted: Sequence[int] = ()) -> MinimapPlot:
    """Return the paths of a minimap. The first `MOST_PINS` steps with notes are drawn, each as a line of length zero with round ends."""
    pinned = noted[:MOST_PINS]
    return MinimapPlot(
        first=drawn.span.first,
        last=drawn.span.last,
        columns=round(drawn.span.steps / drawn.width, 4),
        steps_per_column=drawn.width,
        lanes=[
            Lane(
                name=name,
                path="".join(
                    _bars(
                        [_high(number, drawn.width) for number in columns],
                        TOP + place * (LANE_HEIGHT + LANE_GAP),
                    )
                ),
                steps=sum(columns),
                middle=TOP + place * (LANE_HEIGHT + LANE_GAP) + LANE_HEIGHT / 2,
            )
            for place, (name, columns) in enumerate(drawn.lanes.items())
        ],
        errors="".join(_bars([ERRORS_HEIGHT if number else 0 for number in drawn.errors], 0, ERRORS_HEIGHT)),
        error_steps=sum(drawn.errors),
        pins="".join(
            f"M{round((step - drawn.span.first + 0.5) / drawn.width, 4):g} {PINS_MIDDLE:g}h0"
            for step in pinned
        ),
        noted=pinned,
        more_noted=len(noted) > len(pinned),
    )


def _high(number: int, of: int) -> int:
    return max(LEAST, round(LANE_HEIGHT * number / of)) if number else 0


def _bars(heights: Sequence[int], top: int, room: int = LANE_HEIGHT) -> Iterator[str]:
    """Return the non-empty columns as rectangles at the bottom of their lane; equal neighbours are merged."""
    at = 0
    for height, same in groupby(heights):
        wide = len(list(same))
        if height:
            yield f"M{at} {top + room}h{wide}v-{height}h-{wide}z"
        at += wide
