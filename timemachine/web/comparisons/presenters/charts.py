"""Small charts of a comparison, drawn by the server: a bar or a marker for each column, each with its table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.replay.comparison.pure.metrics import COST, GROUNDING, LATENCY, VariantTotals
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.wording import figure
from timemachine.replay.comparison.pure.variants import RECORDING
from timemachine.web.comparisons.presenters.matrix import Column

NO_SUCH = "–"
WIDTH, ROW, HALF, GUTTER, WORDS = 172, 20, 5, 28, 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One column in a chart: its bar, its interval or second value, and both as text. None is unknown and not drawn."""

    name: str
    short: str
    top: int
    middle: int
    base: int
    bar: float | None
    low: float | None
    high: float | None
    words: str
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in SVG units: its title, its maximum and its columns; `words_at` is the position of the value labels."""

    title: str
    about: str
    more_title: str
    most: str
    columns: Sequence[Drawn]
    height: int
    width: int = GUTTER + WIDTH + WORDS
    words_at: int = GUTTER + WIDTH + HALF


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    value: float | None
    low: float | None
    high: float | None
    more: str
    words: str | None = None


def charts(columns: Sequence[Column], *, with_grounding: bool) -> list[Chart]:
    """Return the charts of agreement, grounding, cost and latency. Model calls have no grounding."""
    return [_chart(columns, *each) for each in CHARTS if with_grounding or each[0] != GROUNDING.title]


def _agreement(totals: VariantTotals) -> _Value:
    if totals.arm == RECORDING:  # it is what the others agree with or do not
        return _Value(value=None, low=None, high=None, more=NO_SUCH, words=NO_SUCH)
    return _with_interval(totals.agreement, totals.agreement_interval)


def _grounding(totals: VariantTotals) -> _Value:
    return _with_interval(totals.grounding, totals.grounding_interval)


def _with_interval(value: float | None, found: Interval | None) -> _Value:
    if found is None:
        return _Value(value=value, low=None, high=None, more="none")
    return _Value(value=value, low=found.low, high=found.high, more=f"{found.low:.2f} to {found.high:.2f}")


def _cost(totals: VariantTotals) -> _Value:
    return _Value(value=totals.cost.total, low=None, high=None, more=f"{totals.unknown_cost:,}")


def _latency(totals: VariantTotals) -> _Value:
    p50, p95 = totals.latency.p50, totals.latency.p95
    return _Value(value=p50, low=p50, high=p95, more=figure(p95, LATENCY.unit))


CHARTS: Final = (
    ("Agreement", "share of answers with 95 % interval", "95 % interval", "share", _agreement, 1.0),
    ("Grounding", "mean score with 95 % interval", "95 % interval", GROUNDING.unit, _grounding, 1.0),
    ("Cost", "all calls with known cost, including failed ones", "Unknown cost", COST.unit, _cost, None),
    (
        "Latency",
        "median; the thin line extends to the 95th percentile",
        "95th percentile",
        LATENCY.unit,
        _latency,
        None,
    ),
)
"""The title of each chart, what its bars and its thin lines show, the unit, the values, and the maximum if it is fixed."""


def _chart(
    columns: Sequence[Column],
    title: str,
    about: str,
    more_title: str,
    unit: str,
    read: Callable[[VariantTotals], _Value],
    most: float | None,
) -> Chart:
    values = [read(column.totals) for column in columns]
    known = [each for value in values for each in (value.value, value.high) if each is not None]
    top = most or max(known, default=0.0) or 1.0
    drawn = [
        _drawn(place, column, value, unit, top)
        for place, (column, value) in enumerate(zip(columns, values, strict=True))
    ]
    return Chart(
        title=title,
        about=about,
        more_title=more_title,
        most=figure(top, unit) if any(known) else "",
        columns=drawn,
        height=ROW * len(drawn),
    )


def _drawn(place: int, column: Column, value: _Value, unit: str, top: float) -> Drawn:
    return Drawn(
        name=column.name,
        short=str(column.number) if column.number else "rec",
        base=place * ROW + 2 * HALF + 4,
        top=place * ROW + HALF,
        middle=place * ROW + 2 * HALF,
        bar=_scaled(value.value, top),
        low=_scaled(value.low, top, GUTTER),
        high=_scaled(value.high, top, GUTTER),
        words=value.words or figure(value.value, unit),
        more=value.more,
    )


def _scaled(value: float | None, top: float, start: int = 0) -> float | None:
    return None if value is None else round(start + WIDTH * max(value, 0) / top, 1)
