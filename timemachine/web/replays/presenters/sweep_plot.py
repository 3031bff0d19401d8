"""The settings of a sweep as points: what they cost in tokens across, how much they find upwards. Pure but for its filters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.replay.sweeps.schemas import SweepRowOut
from timemachine.web.replays.presenters.sweep_order import measure_of

WIDTH, HEIGHT = 344, 240
LEFT, RIGHT, TOP, BOTTOM = 40, 312, 32, 192
"""The corners of the plane; beyond them stand the axes and their words."""
APART: Final = 12
"""How far markers stand from each other at least, so that each can be seen and pressed."""
_STEPS: Final = range(-12 * APART, 12 * APART + 1, APART)
_ASIDE: Final = sorted(
    ((x, y) for x in _STEPS for y in _STEPS), key=lambda way: (way[0] ** 2 + way[1] ** 2, way)
)
SHAPES: Final = {"hybrid": "circle", "semantic": "square", "lexical": "triangle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One setting: where it is drawn, in which shape, filled where it is adaptive, and its number in the table."""

    number: int
    x: float
    y: float
    shape: str
    adaptive: bool
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A number of tokens on the axis across, and where it stands."""

    x: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlot:
    """The picture: its points, what is drawn upwards, the ticks across, and whether markers were moved aside."""

    points: tuple[Point, ...]
    upwards: str
    ticks: tuple[Tick, ...]
    moved: bool
    width: int = WIDTH
    height: int = HEIGHT


def sweep_plot(rows: Sequence[SweepRowOut]) -> SweepPlot | None:
    """The plot of the settings that were measured: by recall where answers were grounded, else by overlap; None without figures."""
    upwards = measure_of([row for row in rows if row.result and row.result.tokens_per_step is not None])
    drawn = [
        (row, tokens, figure)
        for row in rows
        if row.result
        and (tokens := row.result.tokens_per_step) is not None
        and (figure := getattr(row.result, upwards)) is not None
    ]
    if not drawn:
        return None
    most = max(tokens for _, tokens, _ in drawn) or 1.0
    exact = tuple(
        Point(
            number=row.number,
            x=_across(tokens / most),
            y=round(BOTTOM - figure * (BOTTOM - TOP), 1),
            shape=SHAPES[row.mode],
            adaptive=row.adaptive,
            says=f"Setting {row.number}: {upwards} {figure:.2f}, {tokens:.0f} tokens a step",
        )
        for row, tokens, figure in drawn
    )
    points = _apart(exact)
    ticks = tuple(Tick(x=_across(part), tokens=round(part * most)) for part in (0, 0.25, 0.5, 0.75, 1))
    return SweepPlot(points=points, upwards=upwards, ticks=ticks, moved=points != exact)


def _across(part: float) -> float:
    return round(LEFT + part * (RIGHT - LEFT), 1)


def _apart(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points, those that would lie on an earlier one moved to the nearest place that is free."""
    placed: list[Point] = []
    for point in points:
        placed.append(next((at for at in _places(point) if _is_free(at, placed)), point))
    return tuple(placed)


def _places(point: Point) -> Iterator[Point]:
    """The point itself and then the places around it that lie in the plane, nearest first."""
    for across, down in _ASIDE:
        x, y = round(point.x + across, 1), round(point.y + down, 1)
        if LEFT <= x <= RIGHT and TOP <= y <= BOTTOM:
            yield replace(point, x=x, y=y)


def _is_free(point: Point, placed: Iterable[Point]) -> bool:
    return all(abs(point.x - at.x) >= APART or abs(point.y - at.y) >= APART for at in placed)
