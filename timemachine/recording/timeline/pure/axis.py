"""The axis of a session's picture: recorded time with idle gaps folded, or the numbers of its steps.

Positions are columns from 0 to `COLUMNS`. Times are seconds since the epoch.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

COLUMNS: Final = 600
FOLD: Final = 9.0
"""Columns that a folded gap takes."""
SHORTEST_GAP: Final = 60.0
"""Seconds without any step that may be folded."""
LONG_SHARE: Final = 0.1
"""A gap is folded if it takes more than this share of what the axis would show otherwise."""
MOST_FOLDS: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the axis without gaps: its columns and what they stand for."""

    left: float
    right: float
    begins: float
    ends: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A folded stretch in which nothing happened."""

    left: float
    right: float
    begins: float
    ends: float

    @property
    def seconds(self) -> float:
        return self.ends - self.begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Segments in order, with a folded gap between two of them. There is always one segment."""

    segments: Sequence[Segment]
    gaps: Sequence[Gap] = ()

    @property
    def begins(self) -> float:
        return self.segments[0].begins

    @property
    def ends(self) -> float:
        return self.segments[-1].ends

    @property
    def shown(self) -> float:
        """Return how much the segments stand for: the time without the folded gaps."""
        return sum(each.ends - each.begins for each in self.segments)

    def place(self, value: float) -> float:
        """Return the column of a value; inside a folded gap, its left edge."""
        at = bisect_right(self.segments, value, key=lambda each: each.begins) - 1
        segment = self.segments[max(at, 0)]
        length = segment.ends - segment.begins
        part = min(1.0, max(0.0, (value - segment.begins) / length)) if length else 0.5
        return segment.left + part * (segment.right - segment.left)


def step_axis(first: int, last: int) -> Axis:
    """Return an axis on which every step is equally wide."""
    return Axis(segments=[Segment(left=0, right=COLUMNS, begins=first - 1, ends=last)])


def time_axis(spans: Iterable[tuple[float, float]]) -> Axis:
    """Return an axis of the time that spans cover, each a begin and an end; there is at least one."""
    covered = _merged(spans)
    folded = _folded(covered)
    bounds = [covered[0][0], *(edge for gap in folded for edge in gap), covered[-1][1]]
    pieces = list(zip(bounds[::2], bounds[1::2], strict=True))
    room = COLUMNS - FOLD * len(folded)
    total = sum(ends - begins for begins, ends in pieces)
    segments, gaps, left = [], [], 0.0
    for number, (begins, ends) in enumerate(pieces):
        share = (ends - begins) / total if total else 1 / len(pieces)
        right = left + room * share
        segments.append(Segment(left=left, right=right, begins=begins, ends=ends))
        if number < len(folded):
            gaps.append(Gap(left=right, right=right + FOLD, begins=folded[number][0], ends=folded[number][1]))
        left = right + FOLD
    return Axis(segments=segments, gaps=gaps)


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for begins, ends in sorted(spans):
        if merged and begins <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        else:
            merged.append((begins, ends))
    return merged


def _folded(covered: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the gaps to fold, in order: the longest ones, as long as each dominates what would remain."""
    gaps = [(before[1], after[0]) for before, after in pairwise(covered)]
    remaining = covered[-1][1] - covered[0][0]
    folded = []
    for gap in sorted(gaps, key=lambda each: each[0] - each[1])[:MOST_FOLDS]:
        long = gap[1] - gap[0]
        if long < SHORTEST_GAP or long <= remaining * LONG_SHARE:
            break
        folded.append(gap)
        remaining -= long
    return sorted(folded)
