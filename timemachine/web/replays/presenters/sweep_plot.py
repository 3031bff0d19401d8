"""The best setting of a sweep in a sentence, and all settings as points: tokens on the x-axis, recall or overlap on the y-axis."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.core.pure.numbers import counted
from timemachine.replay.sweeps.schemas import SweepRowOut as Row

WIDTH, HEIGHT = 344, 240
LEFT, RIGHT, TOP, BOTTOM = 40, 312, 32, 192
"""The corners of the plot area; the axes and their labels are outside."""
APART: Final = 12
"""Minimum distance of markers, so that each can be seen and clicked."""
_STEPS: Final = range(-12 * APART, 12 * APART + 1, APART)
_ASIDE: Final = sorted(
    ((x, y) for x in _STEPS for y in _STEPS), key=lambda way: (way[0] ** 2 + way[1] ** 2, way)
)
SHAPES: Final = {"hybrid": "circle", "semantic": "square", "lexical": "triangle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One setting: its position, its shape, whether it is adaptive (filled), and its number in the table."""

    number: int
    x: float
    y: float
    shape: str
    adaptive: bool
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A number of tokens on the x-axis, and its position."""

    x: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlot:
    """The plot: its points, the measure on the y-axis, the ticks of the x-axis, and whether markers were moved apart."""

    points: tuple[Point, ...]
    upwards: str
    ticks: tuple[Tick, ...]
    moved: bool
    width: int = WIDTH
    height: int = HEIGHT


def sweep_plot(rows: Sequence[Row]) -> SweepPlot | None:
    """Return the plot of the measured settings: by recall if answers were grounded, else by overlap; None without values."""
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
            says=f"Setting {row.number}: {upwards} {figure:.2f}, {tokens:.0f} tokens per step",
        )
        for row, tokens, figure in drawn
    )
    points = _apart(exact)
    ticks = tuple(Tick(x=_across(part), tokens=round(part * most)) for part in (0, 0.25, 0.5, 0.75, 1))
    return SweepPlot(points=points, upwards=upwards, ticks=ticks, moved=points != exact)


def _across(part: float) -> float:
    return round(LEFT + part * (RIGHT - LEFT), 1)


def _apart(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the points; those that would overlap an earlier one are moved to the nearest free place."""
    placed: list[Point] = []
    for point in points:
        placed.append(next((at for at in _places(point) if _is_free(at, placed)), point))
    return tuple(placed)


def _places(point: Point) -> Iterator[Point]:
    """Yield the point itself and then the places around it within the plot area, nearest first."""
    for across, down in _ASIDE:
        x, y = round(point.x + across, 1), round(point.y + down, 1)
        if LEFT <= x <= RIGHT and TOP <= y <= BOTTOM:
            yield replace(point, x=x, y=y)


def _is_free(point: Point, placed: Iterable[Point]) -> bool:
    return all(abs(point.x - at.x) >= APART or abs(point.y - at.y) >= APART for at in placed)


def finding_of(rows: Sequence[Row], *, finished: bool) -> str | None:
    """Return the best of the measured settings in a sentence, with how many are as good; None if nothing was measured."""
    measure = measure_of(rows)
    measured = [(row, value) for row in ordered(rows, "best") if (value := _figure(row, measure)) is not None]
    if not measured:
        return None
    best, figure = measured[0]
    equal, name = sum(value == figure for _, value in measured), _name(best, rows)
    tokens = _figure(best, "tokens_per_step")
    cost = "" if tokens is None else f" at {counted(round(tokens), 'token')} per step"
    if equal == 1:
        word = "Best" if finished else "Best so far"
        return f"{word}: {name}, with {measure} {figure:.2f}{cost}."
    which = f"All {equal}" if equal == len(measured) else f"{equal} of {len(measured)}"
    so_far = "" if finished else " measured so far"
    shared = "the same" if equal == len(measured) else "the best"
    fewest = cost and f" Fewest tokens: {name},{cost}."
    return f"{which} settings{so_far} have {shared} {measure}, {figure:.2f}.{fewest}"


def _name(row: Row, rows: Iterable[Row]) -> str:
    parts = [row.mode, f"top-k {row.top_k:,}", "adaptive cut-off" if row.adaptive else "exactly top-k"]
    if row.embedding_model and len({each.embedding_model for each in rows} - {None}) > 1:
        parts.append(row.embedding_model)
    return ", ".join(parts)


def measure_of(rows: Sequence[Row]) -> str:
    """Return the measure of the settings: `recall` if a recorded answer was grounded, else `overlap`."""
    grounded = any(row.result and row.result.recall is not None for row in rows)
    return "recall" if grounded else "overlap"


def ordered(rows: Sequence[Row], by: str) -> list[Row]:
    """Return the rows in the named order (`best` if it is unknown); rows without a value come last."""
    key = _ORDERS.get(by, _best)
    measure = measure_of(rows)
    return sorted(rows, key=lambda row: (*key(row, measure), row.number))


def chosen(by: str) -> str:
    """Return the name of the order, `best` if it is unknown."""
    return by if by in _ORDERS else "best"


def _best(row: Row, measure: str) -> tuple[float, ...]:
    found = _figure(row, measure)
    return (1.0, 0.0) if found is None else (0.0, -found, *_fewest(row, measure))


def _fewest(row: Row, _: str) -> tuple[float, ...]:
    tokens = _figure(row, "tokens_per_step")
    return (1.0, 0.0) if tokens is None else (0.0, tokens)


def _figure(row: Row, name: str) -> float | None:
    found = getattr(row.result, name) if row.result else None
    return None if found is None else float(found)


_ORDERS: Final[Mapping[str, Callable[[Row, str], tuple[float, ...]]]] = {
    "best": _best,
    "tokens": _fewest,
    "number": lambda _row, _measure: (),
}
