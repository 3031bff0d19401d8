"""The metrics of an answer, and the comparison of two variants by them, ask by ask."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import fsum
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.schemas import Schema
from timemachine.replay.comparison.pure.cells import (
    AGREEING,
    ERROR,
    NOT_RECORDED,
    REFUSED,
    Ask,
    Cell,
    missing_counts,
    verdict_counts,
)
from timemachine.replay.comparison.pure.statistics.intervals import Interval, interval, mean
from timemachine.replay.comparison.pure.statistics.paired import (
    A_BETTER,
    B_BETTER,
    LEAST_LATENCY_MS,
    Metric,
    Pair,
    PairedResult,
    Reading,
    compare,
    corrected,
    differs,
    without_verdict,
)
from timemachine.replay.comparison.pure.statistics.summaries import SpreadOut, ratio_of_medians, spread
from timemachine.replay.comparison.pure.variants import RECORDING

CACHED: Final = "from the cache"
UNKNOWN: Final = "unknown"
RECORDED_REFUSED: Final = "recorded answer refused"
NO_PASSAGES: Final = "a model call has no passages"
NO_MODEL_CALL: Final = "not a model call"
NO_TOOL: Final = "no tool called"
NOT_WHOLE: Final = "request not recorded completely"
OTHER_TOOL: Final = "another tool"
NOT_OF_THE_KIND: Final = frozenset({NO_PASSAGES, NO_MODEL_CALL, NO_TOOL})
"""Why a metric has no value at an ask where it can have none. One that has only these is left out."""
_OTHER_TOOLS: Final = frozenset({"other_tool", "answers_instead", "calls_instead"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Metric):
    """A metric with its unit, its description, and how it is read from an answer."""

    unit: str
    title: str
    about: str
    read: Callable[[Cell], Reading]


def _answered(cell: Cell) -> Reading:
    if cell.missing == ERROR:
        return Reading(value=0.0)
    return _figure(float(not cell.refused), cell.missing)


def _agreement(cell: Cell) -> Reading:
    return _figure(float(cell.verdict in AGREEING), _no_answer(cell) or _no_other(cell))


def _grounding(cell: Cell) -> Reading:
    return _figure(cell.grounding, NO_PASSAGES if cell.called is not None else _no_answer(cell))


def _same_tools(cell: Cell) -> Reading:
    if cell.called is None:
        return Reading(value=None, missing=NO_MODEL_CALL)
    return _figure(float(cell.verdict not in _OTHER_TOOLS), _no_answer(cell) or _no_other(cell))


def _same_arguments(cell: Cell) -> Reading:
    why_not = NO_MODEL_CALL if cell.called is None else None if cell.called else NO_TOOL
    if why_not is None and cell.verdict in _OTHER_TOOLS:
        why_not = OTHER_TOOL
    reason = why_not or _no_answer(cell) or _no_other(cell)
    return _figure(float(cell.verdict != "other_arguments"), reason)


def _no_answer(cell: Cell) -> str | None:
    return cell.missing or (REFUSED if cell.refused else None)


def _no_other(cell: Cell) -> str | None:
    """Return why there is no recorded answer to agree with."""
    if cell.verdict == "newly_answered":
        return RECORDED_REFUSED
    return NOT_RECORDED if cell.verdict in {None, "not_recorded"} else None


def _no_call(cell: Cell) -> str | None:
    return cell.missing or (CACHED if cell.cached else None)


def _figure(value: float | None, reason: str | None) -> Reading:
    if reason is not None:
        return Reading(value=None, missing=reason)
    return Reading(value=value, missing=UNKNOWN if value is None else None)


AGREEMENT: Final = Measure(
    name="agreement",
    higher_is_better=True,
    bounded=True,
    unit="share",
    title="Agreement with the recording",
    about="the share of answers without a factual difference from the recorded answer: identical, formatting or "
    "reworded, and for a model call that calls tools, the same action; higher is closer to the recording, which may itself be wrong",
    read=_agreement,
)
GROUNDING: Final = Measure(
    name="grounding",
    higher_is_better=True,
    bounded=True,
    unit="score",
    title="Grounding",
    about="the estimated probability that the passages support every sentence of the answer, 0 to 1: a single unsupported sentence makes it low, "
    "even if the rest is right; higher is better",
    read=_grounding,
)
SAME_TOOLS: Final = Measure(
    name="same_tools",
    higher_is_better=True,
    bounded=True,
    unit="share",
    title="Same tools",
    about="the share of model calls that call the recorded tools, each the same number of times, and no others; "
    "higher is closer to the recording",
    read=_same_tools,
)
SAME_ARGUMENTS: Final = Measure(
    name="same_arguments",
    higher_is_better=True,
    bounded=True,
    unit="share",
    title="Same arguments",
    about="of the model calls that call the same tools as the recorded one, the share with equal arguments; higher "
    "is closer to the recording",
    read=_same_arguments,
)
COST: Final = Measure(
    name="cost",
    higher_is_better=False,
    bounded=False,
    unit="usd",
    title="Cost",
    about="the cost of the call in US dollars; lower is better",
    read=lambda cell: _figure(cell.cost_usd, _no_call(cell)),
)
LATENCY: Final = Measure(
    name="latency",
    higher_is_better=False,
    bounded=False,
    unit="ms",
    title="Latency",
    about=f"how long the model call took, measured while the other variants were running; lower is better. Differences below {LEAST_LATENCY_MS} ms "
    "get no verdict, because they can come from running the variants at the same time",
    read=lambda cell: _figure(cell.latency_ms, _no_call(cell)),
)
TOKENS: Final = Measure(
    name="tokens",
    higher_is_better=False,
    bounded=False,
    unit="tokens",
    title="Tokens",
    about="input and output tokens as counted by the provider; fewer is better",
    read=lambda cell: _figure(cell.tokens, _no_call(cell)),
)
MEASURES: Final = (
    Measure(
        name="answered",
        higher_is_better=True,
        bounded=True,
        unit="share",
        title="Answered",
        about="the share of steps that were answered; a refusal or a failed call counts as 0; higher is better",
        read=_answered,
    ),
    AGREEMENT,
    SAME_TOOLS,
    SAME_ARGUMENTS,
    GROUNDING,
    COST,
    LATENCY,
    TOKENS,
)


OF_THE_RECORDING: Final = (AGREEMENT, SAME_TOOLS, SAME_ARGUMENTS)
"""The metrics that compare with the recording, which has none of its own."""
_OF_THE_REQUEST: Final = (COST, LATENCY, TOKENS)
"""The metrics that depend on how much was sent: the recording has none where a variant was sent less."""
_OF_CALLS: Final = frozenset({SAME_TOOLS.name, SAME_ARGUMENTS.name})


def noun_of(metric: str, steps: ModelSteps) -> str:
    """Return what the values of a metric are counted in: `ask`, `model call`, or `step` if the metric has values for both."""
    return "model call" if metric in _OF_CALLS else steps.noun


class VariantTotals(Schema):
    """The totals of one column. `interval` is that of its mean; `missing` counts missing answers by reason.

    The total of `cost` covers all calls, including failed ones, and is None if none is known. Its other
    numbers cover answers only.
    """

    arm: int
    answers: int
    verdicts: dict[str, int]
    missing: dict[str, int]
    cost: SpreadOut
    unknown_cost: int
    latency: SpreadOut
    tokens: SpreadOut
    grounding: float | None
    grounding_interval: Interval | None
    agreement: float | None
    agreement_interval: Interval | None
    same_tools: float | None
    same_tools_interval: Interval | None
    same_arguments: float | None
    same_arguments_interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantPair:
    """Two columns compared: a result for each metric, and B's medians divided by A's, over the same asks."""

    a: int
    b: int
    results: Sequence[PairedResult]
    ratios: Mapping[str, float | None] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return the pair as it is stored and sealed."""
        found = asdict(self)
        for written, result in zip(found["results"], self.results, strict=True):
            written["interval"] = result.interval and result.interval.model_dump()
        return found


def readings(measure: Measure, cells: Sequence[Cell]) -> Reading:
    """Return one variant's reading at one ask: the mean over its runs with a value (Miller 2024, section 3.1), or the most frequent reason."""
    read = [measure.read(cell) for cell in cells]
    values = [each.value for each in read if each.value is not None]
    if values:
        return Reading(value=mean(values))
    reasons = Counter(each.missing for each in read if each.missing)
    return Reading(value=None, missing=reasons.most_common(1)[0][0] if reasons else "not asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The readings of one column at every ask, by metric, in the order of the asks; `clusters` are the asks' sessions."""

    arm: int
    clusters: Sequence[Hashable]
    read: Mapping[str, Sequence[Reading]]


def column(asks: Sequence[Ask], arm: int) -> Column:
    """Return the column of a variant, or of the recording."""
    return _column(asks, arm, [ask.cells(arm) for ask in asks])


def compare_columns(a: Column, b: Column) -> VariantPair:
    """Compare column A with column B over the same asks."""
    with_recording = RECORDING in {a.arm, b.arm}
    measures = [
        each
        for each in MEASURES
        if not (each in OF_THE_RECORDING and with_recording) and (_applies(each, a) or _applies(each, b))
    ]
    by_metric = {
        each.name: [
            Pair(cluster=cluster, a=left, b=right)
            for cluster, left, right in zip(a.clusters, a.read[each.name], b.read[each.name], strict=True)
        ]
        for each in measures
    }
    return VariantPair(
        a=a.arm,
        b=b.arm,
        results=corrected([compare(each, by_metric[each.name]) for each in measures]),
        ratios={each.name: _ratio(by_metric[each.name]) for each in measures if not each.bounded},
    )


def _applies(measure: Measure, read: Column) -> bool:
    return any(each.missing not in NOT_OF_THE_KIND for each in read.read[measure.name])


def noise_of(asks: Sequence[Ask], arm: int) -> VariantPair:
    """Compare a variant's first run with its noise floor run. Differences here are due to chance."""
    first = _column(asks, arm, [ask.cells(arm)[:1] for ask in asks])
    return compare_columns(first, _column(asks, arm, [ask.noise(arm) for ask in asks]))


def latency_differs(noise: VariantPair) -> bool:
    """Return whether a variant was slower or faster than itself: then load explains such differences, not the model."""
    return any(each.metric == LATENCY.name and differs(each) for each in noise.results)


def without_small_latency(pairs: Sequence[VariantPair]) -> list[VariantPair]:
    """Return the pairs without verdicts on latencies that differ by less than `LEAST_LATENCY_MS` on average."""
    return [replace(pair, results=[_without_small(each) for each in pair.results]) for pair in pairs]


def _without_small(result: PairedResult) -> PairedResult:
    is_small = result.difference is not None and abs(result.difference) < LEAST_LATENCY_MS
    is_claim = result.metric == LATENCY.name and result.verdict in {A_BETTER, B_BETTER}
    return without_verdict(result) if is_claim and is_small else result


def without_latency(pairs: Sequence[VariantPair]) -> list[VariantPair]:
    """Return the pairs without a verdict on latency."""
    return [
        replace(
            pair,
            results=[without_verdict(each) if each.metric == LATENCY.name else each for each in pair.results],
        )
        for pair in pairs
    ]


def column_totals(asks: Sequence[Ask], read: Column) -> VariantTotals:
    """Return the totals of a column."""
    arm = read.arm
    cells = [cell for ask in asks for cell in ask.cells(arm)]
    spent = [cell.spent_usd for cell in cells if cell.spent_usd is not None]
    means: JsonObject = {}
    for each in (GROUNDING, *OF_THE_RECORDING):
        means[each.name], means[f"{each.name}_interval"] = _mean(read, each)
    return VariantTotals.model_construct(
        arm=arm,
        answers=sum(cell.missing is None for cell in cells),
        verdicts=verdict_counts(cells),
        missing=missing_counts(cells),
        cost=_spread(cells, COST).model_copy(update={"total": fsum(spent) if spent else None}),
        unknown_cost=sum(cell.unknown_calls for cell in cells),
        latency=_spread(cells, LATENCY),
        tokens=_spread(cells, TOKENS),
        **means,
    )


def _column(asks: Sequence[Ask], arm: int, cells: Sequence[Sequence[Cell]]) -> Column:
    read = {each.name: [readings(each, of_ask) for of_ask in cells] for each in MEASURES}
    if arm == RECORDING:
        for each in _OF_THE_REQUEST:
            read[each.name] = [
                Reading(value=None, missing=NOT_WHOLE) if ask.incomplete else recorded
                for ask, recorded in zip(asks, read[each.name], strict=True)
            ]
    return Column(arm=arm, clusters=[ask.session for ask in asks], read=read)


def _ratio(pairs: Sequence[Pair]) -> float | None:
    both = [
        (each.a.value, each.b.value)
        for each in pairs
        if each.a.value is not None and each.b.value is not None
    ]
    return ratio_of_medians([a for a, _ in both], [b for _, b in both])


def _mean(column: Column, measure: Measure) -> tuple[float | None, Interval | None]:
    """Return the mean over the asks, and its interval cut to 0–1; None for the recording's agreement with itself."""
    if measure in OF_THE_RECORDING and column.arm == RECORDING:
        return None, None
    read = zip(column.read[measure.name], column.clusters, strict=True)
    values = [(each.value, session) for each, session in read if each.value is not None]
    if not values:
        return None, None
    found = interval([value for value, _ in values], [session for _, session in values], 1.0)
    middle = mean([value for value, _ in values])
    return middle, None if found is None else found.within(0, 1)


def _spread(cells: Sequence[Cell], measure: Measure) -> SpreadOut:
    read = [measure.read(cell).value for cell in cells]
    return spread([each for each in read if each is not None])
