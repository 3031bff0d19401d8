"""A session as a picture: what happened when, by agent and kind, and what it cost. Pure: it is drawn from plain data.

`Piece`s are single steps or consecutive ones that were counted together; a picture never has more than a few thousand
things to draw, however long the session is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from timemachine.recording.timeline.pure.axis import COLUMNS, Axis, step_axis, time_axis
from timemachine.recording.timeline.pure.ticks import Tick, step_ticks, time_ticks

LANES: Final[Mapping[str, tuple[str, ...]]] = {
    "messages": ("message",),
    "asks": ("ask",),
    "models": ("llm_call",),
    "retrieval": ("find", "put", "memory_op"),
    "tools": ("tool_call", "tool_result"),
    "system": ("event", "checkpoint"),
}
LANE_OF: Final = {kind: lane for lane, kinds in LANES.items() for kind in kinds}
MOST_BARS: Final = 400
"""Up to this many steps are drawn one by one, nested; more are drawn as density."""
MOST_AGENTS: Final = 6
OTHERS: Final = "other agents"
DEEPEST: Final = 4
"""Rows of nested bars; deeper steps are drawn in the last one."""
THINNEST: Final = 0.9
"""Columns of the shortest bar, so that a step without a duration is visible."""

LATEST: Final = 253_402_300_799.0
"""The end of the year 9999: no calendar goes further, but a duration may."""

AxisName = Literal["steps", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The steps `first` to `last` of one kind and agent: one step, or `number` of them that were counted together.

    `begins` and `ends` are seconds since the epoch, None if no time was recorded. `cost` is the sum of the known costs in
    US dollars, `unknown` the number of calls without one. `depth` is how deeply a single step is nested.
    """

    first: int
    last: int
    kind: str
    agent: str = ""
    begins: float | None = None
    ends: float | None = None
    number: int = 1
    errors: int = 0
    cost: float = 0.0
    unknown: int = 0
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One step: its columns, its row in the lane, and its kind's lane name."""

    left: float
    right: float
    row: int
    lane: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane: of an agent, of a kind, or both. It has either bars in rows, or a height from 0 to 1 per column."""

    agent: str
    name: str
    number: int
    rows: int = 1
    bars: Sequence[Bar] = ()
    density: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What began in one column: the steps, how many, up to which column they lasted, and where the `next` group begins if that
    is earlier."""

    left: float
    right: float
    next: float
    first: int
    last: int
    number: int
    errors: int
    cost: float
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The picture of the steps `first` to `last`. `untimed` of them have no time and are not drawn on a time axis."""

    axis_name: AxisName
    first: int
    last: int
    axis: Axis
    ticks: Sequence[Tick]
    lanes: Sequence[Lane]
    groups: Sequence[Group]
    checkpoints: Sequence[float]
    number: int
    errors: int
    cost: float
    unknown: int
    untimed: int

    def at(self, sequence: int) -> float:
        """Return the column of a step; of one that is not drawn, that of the steps around it."""
        if self.axis_name == "steps":
            return self.axis.place(sequence - 0.5)
        around = [each for each in self.groups if each.first <= sequence <= each.last]
        if around:
            narrowest = min(around, key=lambda each: each.last - each.first)
            part = (sequence - narrowest.first) / (narrowest.last - narrowest.first + 1)
            return narrowest.left + part * (narrowest.next - narrowest.left)
        before = [each for each in self.groups if each.last < sequence]
        return max(before, key=lambda each: each.last).left if before else 0.0


def picture(pieces: Sequence[Piece], axis_name: AxisName, first: int, last: int) -> Picture | None:
    """Return the picture of some steps in order; None if there are none to draw, or none has a time."""
    drawn = [each for each in pieces if axis_name == "steps" or each.begins is not None]
    if not drawn:
        return None
    axis = step_axis(first, last) if axis_name == "steps" else time_axis(map(_span, drawn))
    placed = [_placed(each, axis, axis_name) for each in drawn]
    lanes = _lanes(drawn, placed)
    return Picture(
        axis_name=axis_name,
        first=first,
        last=last,
        axis=axis,
        ticks=step_ticks(axis) if axis_name == "steps" else time_ticks(axis),
        lanes=lanes,
        groups=_groups(drawn, placed),
        checkpoints=[
            left for each, (left, _) in zip(drawn, placed, strict=True) if each.kind == "checkpoint"
        ],
        number=sum(each.number for each in drawn),
        errors=sum(each.errors for each in drawn),
        cost=sum(each.cost for each in drawn),
        unknown=sum(each.unknown for each in drawn),
        untimed=sum(each.number for each in pieces) - sum(each.number for each in drawn),
    )


def running_cost(groups: Iterable[Group]) -> list[tuple[float, float]]:
    """Return where the sum of the known costs changes, each a column and the sum after it."""
    total, curve = 0.0, []
    for group in groups:
        if group.cost:
            total += group.cost
            curve.append((group.left, total))
    return curve


def _span(piece: Piece) -> tuple[float, float]:
    begins = piece.begins or 0.0
    return begins, min(LATEST, max(begins, piece.ends or begins))


def _placed(piece: Piece, axis: Axis, axis_name: AxisName) -> tuple[float, float]:
    begins, ends = (piece.first - 1, piece.last) if axis_name == "steps" else _span(piece)
    left, right = axis.place(begins), axis.place(ends)
    left = min(left, COLUMNS - THINNEST)
    return left, max(right, left + THINNEST)


def _lanes(pieces: Sequence[Piece], placed: Sequence[tuple[float, float]]) -> list[Lane]:
    agents = Counter[str]()
    for each in pieces:
        agents[each.agent] += each.number
    kept = [agent for agent, _ in agents.most_common(MOST_AGENTS)]
    several = len(agents) > 1
    members: dict[str, list[tuple[Piece, float, float]]] = defaultdict(list)
    for each, (left, right) in zip(pieces, placed, strict=True):
        members[each.agent if each.agent in kept else OTHERS].append((each, left, right))
    single = len(pieces) <= MOST_BARS and all(each.first == each.last for each in pieces)
    found: list[Lane] = []
    for agent, inside in members.items():
        named = agent if several else ""
        if single and any(each.depth for each, _, _ in inside):
            found.append(_nested(named, inside))
        else:
            found += _by_kind(named, inside, single)
    return found if single else _scaled(found)


def _nested(agent: str, inside: Sequence[tuple[Piece, float, float]]) -> Lane:
    """Return the steps of an agent as a flame view: each below its parent."""
    bars = [
        Bar(left=left, right=right, row=min(each.depth, DEEPEST - 1), lane=LANE_OF[each.kind])
        for each, left, right in inside
    ]
    rows = max(bar.row for bar in bars) + 1
    return Lane(agent=agent, name="nested steps", number=len(bars), rows=rows, bars=bars)


def _by_kind(agent: str, inside: Sequence[tuple[Piece, float, float]], single: bool) -> list[Lane]:
    lanes = []
    for name in LANES:
        own = [(each, left, right) for each, left, right in inside if LANE_OF[each.kind] == name]
        if own and single:
            bars = [Bar(left=left, right=right, row=0, lane=name) for _, left, right in own]
            lanes.append(Lane(agent=agent, name=name, number=len(bars), bars=bars))
        elif own:
            number = sum(each.number for each, _, _ in own)
            lanes.append(Lane(agent=agent, name=name, number=number, density=_density(own)))
    return lanes


def _density(own: Iterable[tuple[Piece, float, float]]) -> list[float]:
    """Return the number of steps in each column; steps that were counted together are spread evenly."""
    columns = [0.0] * COLUMNS
    for each, left, right in own:
        begin = int(left)
        end = min(COLUMNS, max(begin + 1, ceil(right - 1e-6)))
        share = 1.0 if each.number == 1 else each.number / (end - begin)
        for column in range(begin, end):
            columns[column] += share
    return columns


def _scaled(lanes: Sequence[Lane]) -> list[Lane]:
    """Return the lanes with heights from 0 to 1. The square root keeps rare steps visible beside many."""
    most = max(max(lane.density, default=0.0) for lane in lanes) or 1.0
    return [
        Lane(
            agent=lane.agent,
            name=lane.name,
            number=lane.number,
            rows=lane.rows,
            bars=lane.bars,
            density=[(number / most) ** 0.5 for number in lane.density],
        )
        for lane in lanes
    ]


def _groups(pieces: Sequence[Piece], placed: Sequence[tuple[float, float]]) -> list[Group]:
    """Return what began in each column, in order."""
    columns: dict[int, list[tuple[Piece, float, float]]] = defaultdict(list)
    for each, (left, right) in zip(pieces, placed, strict=True):
        columns[int(left)].append((each, left, right))
    found: list[Group] = []
    following = float(COLUMNS)
    for _, own in sorted(columns.items(), reverse=True):
        left, right = min(left for _, left, _ in own), max(right for _, _, right in own)
        group = Group(
            left=left,
            right=right,
            next=min(right, following),
            first=min(each.first for each, _, _ in own),
            last=max(each.last for each, _, _ in own),
            number=sum(each.number for each, _, _ in own),
            errors=sum(each.errors for each, _, _ in own),
            cost=sum(each.cost for each, _, _ in own),
            unknown=sum(each.unknown for each, _, _ in own),
        )
        found.append(group)
        following = left
    return found[::-1]


def depths(parents: Mapping[int, int | None]) -> dict[int, int]:
    """Return how deeply each step is nested, given the parent of each. A parent that is not among them counts as none."""
    found: dict[int, int] = {}
    for step in parents:
        path = []
        at: int | None = step
        while at is not None and at in parents and at not in found and at not in path:
            path.append(at)
            at = parents[at]
        depth = found[at] + 1 if at in found else 0  # a circle ends like a missing parent
        for each in reversed(path):
            found[each] = depth
            depth += 1
    return found
