"""The statistics of a comparison at a glance: a row for each column, with the verdict against one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.numbers import total_cost
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import (
    AGREEMENT,
    COST,
    GROUNDING,
    LATENCY,
    SAME_ARGUMENTS,
    SAME_TOOLS,
    TOKENS,
    Measure,
    VariantTotals,
)
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.paired import A_BETTER, B_BETTER, TOO_FEW, PairedResult
from timemachine.replay.comparison.pure.statistics.wording import (
    NOT_COMPARED,
    comparatives,
    figure,
    is_closeness,
)
from timemachine.replay.comparison.pure.variants import RECORDING

_SHARES: Final = (AGREEMENT, SAME_TOOLS, SAME_ARGUMENTS, GROUNDING)
_COMPARATIVES: Final[Mapping[str, tuple[str, str]]] = {
    COST.name: ("cheaper", "more expensive"),
    LATENCY.name: ("faster", "slower"),
    TOKENS.name: ("fewer", "more"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One metric of a column, its interval, and how it compares with the column that is compared with. Empty texts were not computed."""

    title: str
    words: str
    interval: str = ""
    verdict: str = ""
    better: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A column of the comparison."""

    number: int
    name: str
    figures: Sequence[Figure]
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The titles of the metrics, a row for each column, and the name of the column that they are compared with."""

    titles: Sequence[str]
    rows: Sequence[Row]
    base: str

    @property
    def has_intervals(self) -> bool:
        return any(figure.interval for row in self.rows for figure in row.figures)


def overview(found: Findings, names: Sequence[str], against: int) -> Overview:
    """Return the overview. Metrics that apply to none of the compared steps are left out."""
    results = {(pair.b, each.metric): each for pair in found.against(against) for each in pair.results}
    shares = [
        each for each in _SHARES if any(getattr(column, each.name) is not None for column in found.columns)
    ]
    rows = [
        Row(
            number=totals.arm,
            name=names[totals.arm],
            figures=[_figure(each, totals, results) for each in (*shares, COST, LATENCY, TOKENS)],
            missing=totals.missing,
        )
        for totals in found.columns
    ]
    return Overview(titles=[each.title for each in rows[0].figures], rows=rows, base=names[against])


def _figure(
    measure: Measure, totals: VariantTotals, results: Mapping[tuple[int, str], PairedResult]
) -> Figure:
    result = results.get((totals.arm, measure.name))
    words, interval = _value(measure, totals)
    return Figure(
        title=_TITLES.get(measure.name, measure.title),
        words=words,
        interval=interval,
        verdict="" if result is None else _verdict(result, measure),
        better=result is not None and result.verdict == B_BETTER and not is_closeness(measure.name),
    )


_TITLES: Final = {
    AGREEMENT.name: "Agreement",
    COST.name: "Cost, total",
    LATENCY.name: "Latency, median",
    TOKENS.name: "Tokens, median",
}


def _value(measure: Measure, totals: VariantTotals) -> tuple[str, str]:
    """Return a column's value and interval."""
    if measure is COST:
        known = totals.cost.total is not None or totals.unknown_cost
        return (total_cost(totals.cost.total, totals.unknown_cost) if known else "unknown"), ""
    if measure in {LATENCY, TOKENS}:
        return figure(getattr(totals, measure.name).p50, measure.unit), ""
    if measure is not GROUNDING and totals.arm == RECORDING:
        return "–", ""
    return figure(getattr(totals, measure.name), measure.unit), _interval(
        getattr(totals, f"{measure.name}_interval")
    )


def _interval(found: Interval | None) -> str:
    return "" if found is None else f"{found.low:.2f} to {found.high:.2f}"


def _verdict(result: PairedResult, measure: Measure) -> str:
    better, worse = _COMPARATIVES.get(measure.name) or comparatives(measure.name)
    words = {B_BETTER: better, A_BETTER: worse, TOO_FEW: "too few to tell"}
    return words.get(result.verdict, result.verdict) if result.n else NOT_COMPARED
