"""The settings of a sweep as points: what they cost in tokens across, how much they find upwards. Pure but for its filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH, HEIGHT, MARGIN = 560, 240, 40
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
class SweepPlot:
    """The picture: its points, what is drawn upwards, and the largest number of tokens across."""

    points: tuple[Point, ...]
    upwards: str
    most_tokens: int
    width: int = WIDTH
    height: int = HEIGHT
    margin: int = MARGIN


def sweep_plot(rows: Sequence[Mapping[str, Any]]) -> SweepPlot | None:
    """The plot of the settings that were measured: by recall where answers were grounded, else by overlap; None without figures."""
    measured = [row for row in rows if row["result"] and row["result"]["tokens_per_step"] is not None]
    upwards = "recall" if any(row["result"]["recall"] is not None for row in measured) else "overlap"
    drawn = [row for row in measured if row["result"][upwards] is not None]
    if not drawn:
        return None
    most = max(row["result"]["tokens_per_step"] for row in drawn) or 1.0
    return SweepPlot(
        points=tuple(_point(row, upwards, most) for row in drawn), upwards=upwards, most_tokens=round(most)
    )


def _point(row: Mapping[str, Any], upwards: str, most: float) -> Point:
    result = row["result"]
    across = result["tokens_per_step"] / most
    return Point(
        number=row["number"],
        x=round(MARGIN + across * (WIDTH - 2 * MARGIN), 1),
        y=round(HEIGHT - MARGIN - result[upwards] * (HEIGHT - 2 * MARGIN), 1),
        shape=SHAPES[row["mode"]],
        adaptive=row["adaptive"],
        says=f"Setting {row['number']}: {upwards} {result[upwards]:.2f}, {result['tokens_per_step']:.0f} tokens a step",
    )
