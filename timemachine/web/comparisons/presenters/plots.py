"""How each column differs from the one it is compared with: a dot for the difference, a line for its 95% interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.numbers import counted
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import MEASURES, Measure
from timemachine.replay.comparison.pure.statistics import wording
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.paired import A_BETTER, B_BETTER, NOT_SHOWN, PairedResult
from timemachine.replay.comparison.pure.variants import RECORDING

WIDTH, ROW, MARGIN = 240, 28, 8
_DIRECTIONS: Final = {
    "cost": ("cheaper", "more expensive"),
    "latency": ("faster", "slower"),
    "tokens": ("fewer", "more"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRow:
    """One column in a plot, in SVG units; without an interval `low` and `high` are None. `words` are the numbers."""

    name: str
    y: int
    dot: float
    low: float | None
    high: float | None
    words: str
    verdict: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One metric. `zero` is the position of the column that the others are compared with, or of a share of 0."""

    title: str
    about: str
    rows: Sequence[PlotRow]
    zero: float
    better: str
    height: int
    width: int = WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Plots:
    """The metrics that vary, drawn; those that do not vary, in words; and those that cannot be compared."""

    drawn: Sequence[Plot]
    same: Sequence[str]
    unknown: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    name: str
    value: float
    interval: Interval | None
    words: str
    verdict: str
    outcome: str


def plots(found: Findings, names: Sequence[str], against: int) -> Plots:
    """Return a plot for each metric that varies between the columns."""
    drawn, same, unknown = [], [], []
    for measure in MEASURES:
        points = _shares(found, names, measure) or _differences(found, names, measure, against)
        if points is None:
            continue
        if not points:
            unknown.append(measure.title)
        elif _varies(measure, points):
            about = "share of answers" if wording.is_closeness(measure.name) else "difference"
            drawn.append(_plot(measure, points, f"{about}{_unknown(found, measure, against)}"))
        else:
            value = f"{measure.title} {_common(found, measure, against)}".strip()
            same.append(value + _unknown(found, measure, against))
    return Plots(drawn=drawn, same=same, unknown=unknown)


def _shares(found: Findings, names: Sequence[str], measure: Measure) -> list[_Point] | None:
    """Return the shares of the columns, for a metric that compares with the recording; None for any other."""
    if not wording.is_closeness(measure.name):
        return None
    points = []
    for each in found.columns:
        share: float | None = getattr(each, measure.name)
        if each.arm == RECORDING or share is None:
            continue
        interval: Interval | None = getattr(each, f"{measure.name}_interval")
        words = wording.figure(share, measure.unit)
        if interval is not None:
            words += f" [{interval.low:.2f}, {interval.high:.2f}]"
        points.append(
            _Point(
                name=names[each.arm], value=share, interval=interval, words=words, verdict="", outcome="open"
            )
        )
    return points or None


def _differences(
    found: Findings, names: Sequence[str], measure: Measure, against: int
) -> list[_Point] | None:
    """Return the differences from the base column; None if the metric does not apply, empty if no value is known."""
    results = [
        (pair.b, each)
        for pair in found.against(against)
        for each in pair.results
        if each.metric == measure.name
    ]
    if not results or wording.is_closeness(measure.name):
        return None
    return [_point(names[arm], each, measure) for arm, each in results if each.difference is not None]


def _point(name: str, result: PairedResult, measure: Measure) -> _Point:
    interval = result.interval
    words = wording.signed(result.difference, measure.unit)
    if interval is not None:
        words += f" {wording.interval_words(interval, measure.unit)}"
    better, worse = _DIRECTIONS.get(measure.name) or wording.comparatives(measure.name)
    verdict = {B_BETTER: better, A_BETTER: worse}
    return _Point(
        name=name,
        value=result.difference or 0.0,
        interval=interval,
        words=words,
        verdict=verdict.get(result.verdict) or _undecided(result, better, worse),
        outcome={B_BETTER: "ahead", A_BETTER: "behind"}.get(result.verdict, "open"),
    )


def _undecided(result: PairedResult, better: str, worse: str) -> str:
    """Return a verdict that is no difference, and in how many pairs there is one all the same."""
    if result.verdict != NOT_SHOWN:
        return result.verdict
    sides = [
        f"{does} in {often:,}" for does, often in ((better, result.wins), (worse, result.losses)) if often
    ]
    return f"unclear: {', '.join(sides)} of {result.n:,}" if sides else NOT_SHOWN


def _better(measure: Measure) -> str:
    if wording.is_closeness(measure.name):
        return "right is closer to the recording, which may itself be wrong"
    return "right is better" if measure.higher_is_better else "left is better"


def _varies(measure: Measure, points: Sequence[_Point]) -> bool:
    if wording.is_closeness(measure.name):
        return len({each.value for each in points}) > 1 or any(each.interval for each in points)
    return any(each.value for each in points) or any(
        each.interval is not None and each.interval.low < each.interval.high and each.outcome != "open"
        for each in points
    )


def _common(found: Findings, measure: Measure, against: int) -> str:
    """Return the value that every column has, as far as it is known."""
    means = [
        each.mean_a
        for pair in found.against(against)
        for each in pair.results
        if each.metric == measure.name and each.mean_a is not None
    ]
    shares = [getattr(each, measure.name, None) for each in found.columns if each.arm != RECORDING]
    known = [
        each for each in (*means, *(shares if wording.is_closeness(measure.name) else ())) if each is not None
    ]
    return wording.figure(known[0], measure.unit) if known else ""


def _unknown(found: Findings, measure: Measure, against: int) -> str:
    """Return in how many columns the value is not known, in brackets; empty if it is known in all."""
    missing = sum(
        each.difference is None
        for pair in found.against(against)
        for each in pair.results
        if each.metric == measure.name and not wording.is_closeness(measure.name)
    )
    return f" (unknown in {counted(missing, 'column')})" if missing else ""


def _plot(measure: Measure, points: Sequence[_Point], about: str) -> Plot:
    ends = [0.0, 1.0] if wording.is_closeness(measure.name) else [0.0]
    for each in points:
        ends += [each.value] + ([each.interval.low, each.interval.high] if each.interval else [])
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (value - low) / span, 1)

    return Plot(
        title=measure.title,
        about=about,
        rows=[
            PlotRow(
                name=each.name,
                y=ROW * nth + ROW // 2,
                dot=place(each.value),
                low=None if each.interval is None else place(each.interval.low),
                high=None if each.interval is None else place(each.interval.high),
                words=each.words,
                verdict=each.verdict,
                outcome=each.outcome,
            )
            for nth, each in enumerate(points)
        ],
        zero=place(0.0),
        better=_better(measure),
        height=ROW * len(points),
    )
