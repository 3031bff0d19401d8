"""A session's picture as SVG: an axis, errors and notes, lanes by agent and kind, the running cost, and a replay below.

It is drawn from a `Picture`, which is plain data, so that share links can draw theirs from what they may show.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Final

from timemachine.core.pure.numbers import counted, total_cost
from timemachine.recording.timeline.pure.axis import COLUMNS, Gap
from timemachine.recording.timeline.pure.picture import LANES, AxisName, Lane, Picture, running_cost
from timemachine.web import formatting

AXIS_HEIGHT: Final = 18
MARKS_HEIGHT: Final = 10
COST_HEIGHT: Final = 24
REPLAY_HEIGHT: Final = 8
LANE_GAP: Final = 2
LEAST_LANES: Final = 88
"""Pixels that the lanes take together at least; few lanes are higher."""
HIGHEST_ROW: Final = 22
LOWEST_ROW: Final = 7
MOST_PINS: Final = 500
LEAST: Final = 2
"""Minimum height of a column with few steps, so that it is visible."""
MOST_AGENT: Final = 15
"""Letters of an agent's name in front of its lane; all of it is in the description."""


class Outcome(StrEnum):
    """What happened to a step in a replay."""

    SAME = "same"
    DIFFERS = "differs"
    FAILED = "failed"
    NOT_COMPARED = "not-compared"
    WAITING = "waiting"


OUTCOME_HEIGHTS: Final = {
    Outcome.FAILED: 7,
    Outcome.DIFFERS: 5,
    Outcome.SAME: 3,
    Outcome.NOT_COMPARED: 1,
    Outcome.WAITING: 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of a lane in front of it."""

    text: str
    middle: float
    is_agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What the pointer finds in a lane: whose steps, of which kind."""

    text: str
    top: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A path over the columns, with the class that colours it."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TickMark:
    """A line with a label at a share of the width, in percent."""

    at: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A folded gap: its place in percent of the width, and how long nothing happened."""

    at: str
    middle: str
    width: str
    short: str

    @property
    def label(self) -> str:
        return f"{self.short} without steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Everything that the template draws. `groups` and `segments` are for the script: what began where, and what the columns stand for."""

    axis: AxisName
    first: int
    last: int
    height: int
    columns: int
    ticks: Sequence[TickMark]
    gaps: Sequence[Fold]
    names: Sequence[Name]
    areas: Sequence[Area]
    shapes: Sequence[Shape]
    words: str
    groups: str
    segments: str
    noted: Sequence[int]
    more_noted: bool
    untimed: int
    cost: str
    no_times: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedSteps:
    """A replay as the picture shows it: steps with their outcomes, and the last finished one."""

    outcomes: Sequence[tuple[int, Outcome]]
    reached: int | None = None


def picture_over(axis: AxisName, read: Callable[[AxisName], Picture | None]) -> Picture | None:
    """Return the picture over an axis; without recorded times over the numbers of the steps. None without steps."""
    found = read(axis)
    return read("steps") if found is None and axis == "time" else found


def drawing(
    found: Picture,
    noted: Sequence[int] = (),
    replayed: ReplayedSteps | None = None,
    *,
    asked: AxisName,
) -> Drawing:
    """Return how to draw a picture, where an axis was `asked` for.

    The first `MOST_PINS` steps with notes are drawn, each as a line of length zero with round ends.
    """
    pinned = noted[:MOST_PINS]
    top = AXIS_HEIGHT + MARKS_HEIGHT
    row = _row_height(found.lanes)
    names, shapes = _lanes(found.lanes, top, row)
    floor = top + sum(lane.rows * row + LANE_GAP for lane in found.lanes)
    has_cost = bool(found.cost or found.unknown)
    if has_cost:
        names.append(Name(text="cost", middle=floor + COST_HEIGHT / 2))
        shapes += _cost(found, floor)
        floor += COST_HEIGHT
    if replayed:
        names.append(Name(text="replay", middle=floor + REPLAY_HEIGHT / 2))
        shapes += _replay(found, replayed, floor)
        floor += REPLAY_HEIGHT + LANE_GAP
    if found.errors:
        names.insert(0, Name(text="errors", middle=AXIS_HEIGHT + MARKS_HEIGHT / 2 - 1))
    return Drawing(
        axis=found.axis_name,
        no_times=asked != found.axis_name,
        first=found.first,
        last=found.last,
        height=round(floor),
        columns=COLUMNS,
        ticks=[TickMark(at=_percent(each.at), label=each.label) for each in found.ticks],
        gaps=[_fold(gap) for gap in found.axis.gaps],
        names=names,
        areas=[*_error_area(found), *_areas(found.lanes, top, row)],
        shapes=[*shapes, *_marks(found, pinned)],
        words=_words(found, pinned, replayed, more=len(noted) > len(pinned)),
        groups=";".join(_group(found)),
        segments=";".join(
            f"{each.left:.2f},{each.right:.2f},{each.begins:.3f},{each.ends:.3f}"
            for each in found.axis.segments
        ),
        noted=pinned,
        more_noted=len(noted) > len(pinned),
        untimed=found.untimed,
        cost=total_cost(found.cost, found.unknown) if has_cost else "",
    )


def _row_height(lanes: Sequence[Lane]) -> int:
    rows = sum(lane.rows for lane in lanes)
    return max(LOWEST_ROW, min(HIGHEST_ROW, (LEAST_LANES - LANE_GAP * len(lanes)) // rows + 1))


def _lanes(lanes: Sequence[Lane], top: int, row: int) -> tuple[list[Name], list[Shape]]:
    names: list[Name] = []
    paths: dict[str, list[str]] = defaultdict(list)
    before = ""
    for lane in lanes:
        high = lane.rows * row
        name = Name(text=lane.name, middle=top + high / 2)
        if lane.agent:
            cut = lane.agent if len(lane.agent) <= MOST_AGENT else f"{lane.agent[: MOST_AGENT - 1]}…"
            name = Name(text=cut, middle=top + high / 2, is_agent=True)
        if not lane.agent or lane.agent != before:
            names.append(name)
        before = lane.agent
        for bar in lane.bars:
            wide, bottom = bar.right - bar.left, top + (bar.row + 1) * row - 1
            paths[bar.lane].append(f"M{bar.left:.2f} {bottom}h{wide:.2f}v-{row - 1}h-{wide:.2f}z")
        heights = [max(LEAST, round(high * share)) if share else 0 for share in lane.density]
        paths[lane.name] += _bars(heights, top + high)
        top += high + LANE_GAP
    return names, [Shape(kind=f"lane of-{name}", path="".join(paths[name])) for name in LANES if paths[name]]


def _areas(lanes: Sequence[Lane], top: int, row: int) -> list[Area]:
    areas = []
    for lane in lanes:
        high = lane.rows * row + LANE_GAP
        areas.append(Area(text=f"{lane.agent} {lane.name}".strip(), top=top, height=high))
        top += high
    return areas


def _error_area(found: Picture) -> list[Area]:
    return [Area(text="errors", top=AXIS_HEIGHT, height=MARKS_HEIGHT)] if found.errors else []


def _bars(heights: Sequence[int], bottom: int) -> Iterator[str]:
    """Return the non-empty columns as rectangles; equal neighbours are merged."""
    at = 0
    for height, same in groupby(heights):
        wide = len(list(same))
        if height:
            yield f"M{at} {bottom}h{wide}v-{height}h-{wide}z"
        at += wide


def _cost(found: Picture, top: int) -> list[Shape]:
    """Return the running cost as a line that rises, and a tick below it wherever a cost is unknown."""
    curve = running_cost(found.groups)
    floor, room = top + COST_HEIGHT - 5, COST_HEIGHT - 8
    shapes = []
    if curve and found.cost:  # a later correction can take all of it back
        line = "".join(f"H{at:.1f}V{floor - room * total / found.cost:.1f}" for at, total in curve)
        shapes.append(Shape(kind="cost", path=f"M0 {floor}{line}H{COLUMNS}"))
    unknown = "".join(f"M{each.left:.1f} {floor + 1}v4" for each in found.groups if each.unknown > 0)
    return [*shapes, Shape(kind="unknown-cost", path=unknown)] if unknown else shapes


def _replay(found: Picture, replayed: ReplayedSteps, top: int) -> list[Shape]:
    """Return the steps of a replay below the recorded ones: the higher, the more they differ."""
    paths: dict[Outcome, list[str]] = defaultdict(list)
    for sequence, outcome in replayed.outcomes:
        if found.first <= sequence <= found.last:
            paths[outcome].append(
                f"M{found.at(sequence):.1f} {top + REPLAY_HEIGHT}v-{OUTCOME_HEIGHTS[outcome]}"
            )
    return [Shape(kind=f"replay {outcome}", path="".join(path)) for outcome, path in sorted(paths.items())]


def _marks(found: Picture, noted: Sequence[int]) -> list[Shape]:
    bottom = AXIS_HEIGHT + MARKS_HEIGHT - 2
    failed = "".join(f"M{each.left:.1f} {bottom}v-{MARKS_HEIGHT - 2}" for each in found.groups if each.errors)
    stops = "".join(f"M{at:.1f} {AXIS_HEIGHT}v{MARKS_HEIGHT - 2}" for at in found.checkpoints)
    pins = "".join(f"M{found.at(step):.2f} {AXIS_HEIGHT + 4}h0" for step in noted)
    shapes = [
        Shape(kind="checkpoints", path=stops),
        Shape(kind="errors", path=failed),
        Shape(kind="pins under", path=pins),
        Shape(kind="pins", path=pins),
    ]
    return [each for each in shapes if each.path]


def _fold(gap: Gap) -> Fold:
    return Fold(
        at=_percent(gap.left),
        middle=_percent((gap.left + gap.right) / 2),
        width=_percent(gap.right - gap.left),
        short=formatting.duration(gap.seconds * 1_000),
    )


def _percent(columns: float) -> str:
    return f"{columns * 100 / COLUMNS:.2f}%"


def _group(found: Picture) -> Iterator[str]:
    """Yield what began in each column: its columns, steps, counts, and the known cost in millionths of a dollar."""
    for each in found.groups:
        yield (
            f"{each.left:.1f},{each.right:.1f},{each.next:.1f},{each.first},{each.last},{each.number},{each.errors},"
            f"{round(each.cost * 1_000_000)},{each.unknown}"
        )


def _words(found: Picture, noted: Sequence[int], replayed: ReplayedSteps | None, *, more: bool) -> str:
    """Return the picture in words, for readers who do not see it."""
    sentences = [f"Steps {found.first:,} to {found.last:,}"]
    if found.axis_name == "time":
        sentences.append(f"from {_moment(found.axis.begins)} to {_moment(found.axis.ends)}")
        gaps = found.axis.gaps
        idle = formatting.duration(sum(gap.seconds for gap in gaps) * 1_000)
        sentences += [f"{counted(len(gaps), 'gap')} without steps, {idle} in total"] if gaps else []
    for lane in found.lanes:
        sentences.append(f"{lane.agent} {lane.name} {lane.number:,}".strip())
    sentences.append(counted(found.errors, "error"))
    if found.cost or found.unknown:
        sentences.append(f"cost {total_cost(found.cost, found.unknown)}")
    if found.checkpoints:
        sentences.append(counted(len(found.checkpoints), "checkpoint"))
    if noted:
        steps = "steps" if len(noted) > 1 else "step"
        sentences.append(f"notes at {steps} {', '.join(map(str, noted))}{' and later ones' if more else ''}")
    if replayed and replayed.reached is not None:
        sentences.append(f"replayed up to step {replayed.reached:,}")
    return ", ".join(sentences)


def _moment(seconds: float) -> str:
    return formatting.exact(datetime.fromtimestamp(seconds, UTC))
