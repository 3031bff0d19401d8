"""What the answers of a comparison show, as the API returns it: its columns, each two of them compared, and the method."""

from collections.abc import Mapping
from typing import Final

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.schemas import Schema
from timemachine.replay.comparison.pure.metrics import MEASURES, VariantPair, VariantTotals, noun_of
from timemachine.replay.comparison.pure.statistics.intervals import RESAMPLES, SEED, Interval
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.statistics.wording import METHODS, sentence, verdict_words

_UNITS: Final[Mapping[str, str]] = {each.name: each.unit for each in MEASURES}


class IntervalOut(Interval):
    """A confidence interval and the method that gave it."""

    @classmethod
    def of(cls, found: Interval | None) -> "IntervalOut | None":
        return None if found is None else cls.from_attributes(found, method=METHODS[found.method])


class ColumnOut(VariantTotals):
    """The answers of one arm; arm 0 is the recording. `missing` counts the answers that are not there, by reason."""

    grounding_interval: IntervalOut | None
    agreement_interval: IntervalOut | None
    same_tools_interval: IntervalOut | None
    same_arguments_interval: IntervalOut | None

    @classmethod
    def of(cls, totals: VariantTotals) -> "ColumnOut":
        return cls.from_attributes(
            totals,
            grounding_interval=IntervalOut.of(totals.grounding_interval),
            agreement_interval=IntervalOut.of(totals.agreement_interval),
            same_tools_interval=IntervalOut.of(totals.same_tools_interval),
            same_arguments_interval=IntervalOut.of(totals.same_arguments_interval),
        )


class PairedResultOut(Schema):
    """What the pairs of one metric show. Differences are B − A in the metric's own unit; `sentence` has it in words.

    `excluded` counts the pairs without a value, by side and reason. `wins`, `ties` and `losses` are B's. `needed` is how many pairs show
    a difference of `matters` with 80% power. `pairs` has the values if there are fewer than six pairs.
    """

    metric: str
    n: int
    excluded: dict[str, int]
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    interval: IntervalOut | None
    wins: int
    ties: int
    losses: int
    test: str | None
    p: float | None
    p_exact: bool
    sign_p: float | None
    p_holm: float | None
    tests: int
    dz: float | None
    rank_biserial: float | None
    matters: float | None
    needed: int | None
    verdict: str
    pairs: list[list[float]]
    sentence: str

    @classmethod
    def of(cls, result: PairedResult, steps: ModelSteps) -> "PairedResultOut":
        unit = _UNITS[result.metric]
        return cls.from_attributes(
            result,
            interval=IntervalOut.of(result.interval),
            verdict=verdict_words(result, unit),
            sentence=sentence(result, unit, noun_of(result.metric, steps)),
        )


class VariantPairOut(Schema):
    """Two columns compared: a result for each metric, and B's medians divided by A's, of the same steps."""

    a: int
    b: int
    ratio_of_medians: dict[str, float | None]
    metrics: list[PairedResultOut]

    @classmethod
    def of(cls, pair: VariantPair, steps: ModelSteps) -> "VariantPairOut":
        metrics = [PairedResultOut.of(each, steps) for each in pair.results]
        return cls.from_attributes(pair, ratio_of_medians=pair.ratios, metrics=metrics)


class Bootstrap(Schema):
    """How often the bootstrap resamples, and its seed."""

    resamples: int
    seed: int


class Method(Schema):
    """How the statistics are computed, in words."""

    unit: str
    difference: str
    interval: str
    bootstrap: Bootstrap
    test: str
    p_holm: str
    latency: str
    verdict: str
    needed: str


METHOD: Final = Method(
    unit="one ask or model call; one that is answered several times counts once, by the mean over its runs",
    difference="B − A, step by step",
    interval="95%, none below 6 pairs; paired t below 100 independent units, percentile bootstrap from 100; where there are "
    "several sessions, sessions are the independent units, and the error is never smaller than that of as many independent steps; "
    "where all differences are the same, the interval allows for other differences in steps that were not measured",
    bootstrap=Bootstrap(resamples=RESAMPLES, seed=SEED),
    test="McNemar's exact test for shares, Wilcoxon's signed ranks with Pratt's zeros for graded figures; two-sided; steps are taken as "
    "independent",
    p_holm="adjusted over the metrics of one pair of columns",
    latency="measured side by side, while the other arms were asked as well; where the noise floor shows that an arm differs from itself, "
    "latencies of the comparison cannot be told apart",
    verdict="better needs p_holm below 0.05 and an interval that leaves out no difference; the recommendation also leaves out differences of "
    "cost, latency and tokens below 5%",
    needed="steps for 80% power at 5%, for a difference of 0.1 in shares and scores and of 10% of A's mean elsewhere; by the same "
    "error as the interval, so for steps that are spread over sessions as these are",
)
