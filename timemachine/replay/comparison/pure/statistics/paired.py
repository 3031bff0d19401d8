"""One metric of two variants over the same asks: the pairs, what was excluded, and the verdict."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from statistics import NormalDist
from typing import Final

from timemachine.replay.comparison.pure.statistics import exact
from timemachine.replay.comparison.pure.statistics.intervals import (
    FEWEST,
    Interval,
    deviation,
    interval,
    levelled,
    mean,
    standard_error,
)

SIGNIFICANT: Final = 0.05
POWER: Final = 0.8
# An upper bound on the number of pairs: for values near 0 the formula grows without limit.
MOST_NEEDED: Final = 10**12
A_BETTER, B_BETTER, TOO_FEW, NOT_SHOWN = "A better", "B better", "too few", "no difference shown"
INDISTINGUISHABLE = "cannot be told apart"
LEAST_LATENCY_MS: Final = 100
"""The least mean difference of latencies that says something about the models. Variants run side by side, and slow each other down."""
MCNEMAR, WILCOXON = "mcnemar", "wilcoxon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric of an answer. `higher_is_better` is its direction; `bounded` ones are between 0 and 1.

    `matters` is the difference for which the required number of pairs is computed: absolute if bounded,
    otherwise a share of A's mean.
    """

    name: str
    higher_is_better: bool
    bounded: bool
    matters: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The value of one variant at one ask, or why it is missing (`error`, `refused`, `unknown` …)."""

    value: float | None
    missing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two variants at one ask. `cluster` is the ask's session."""

    cluster: Hashable
    a: Reading
    b: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedResult:
    """The result of one metric. Differences are B − A in the metric's unit.

    `excluded` counts the pairs without a value, by side and reason (`A: error`). `wins`, `ties` and `losses`
    are B's, in the metric's direction. `p` belongs to `test`; `p_holm` is corrected for the number of `tests`
    by `corrected`. `needed` is how many pairs show a difference of `matters` with 80% power, distributed
    over sessions like these; None if the pairs do not show it. `pairs` holds the raw values if there are
    fewer than six.
    """

    metric: str
    n: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    test: str | None = None
    p: float | None = None
    p_exact: bool = True
    sign_p: float | None = None
    p_holm: float | None = None
    tests: int = 0
    dz: float | None = None
    rank_biserial: float | None = None
    matters: float | None = None
    needed: int | None = None
    verdict: str = TOO_FEW
    pairs: Sequence[tuple[float, float]] = ()


def compare(metric: Metric, pairs: Sequence[Pair]) -> PairedResult:
    """Compare the pairs by this metric, before correction for other metrics (`corrected`)."""
    whole = [
        (pair.a.value, pair.b.value, pair.cluster)
        for pair in pairs
        if pair.a.value is not None and pair.b.value is not None
    ]
    excluded = _excluded(pairs)
    if not whole:
        return PairedResult(metric=metric.name, n=0, excluded=excluded)
    return _compared(metric, [(a, b) for a, b, _ in whole], [each for _, _, each in whole], excluded)


def corrected(results: Sequence[PairedResult]) -> list[PairedResult]:
    """Return the results for the metrics of a pair of variants with Holm's p values and the resulting verdicts.

    "B better" and "A better" need both an adjusted p below 0.05 and an interval that excludes 0.
    """
    tested = [each.p for each in results if each.p is not None]
    adjusted = iter(exact.holm(tested))
    return [
        replace(_judged(each, None if each.p is None else next(adjusted)), tests=len(tested))
        for each in results
    ]


def differs(result: PairedResult) -> bool:
    """Return whether one side was shown to be better."""
    return result.verdict in {A_BETTER, B_BETTER}


def without_verdict(result: PairedResult) -> PairedResult:
    """Return the result without its verdict, because load alone makes such differences."""
    return replace(result, verdict=INDISTINGUISHABLE) if result.n else result


def needed_pairs(spread: float, difference: float) -> int | None:
    """Return how many pairs show this mean difference at 5% with 80% power, for this standard deviation.

    n = ((z₀.₉₇₅ + z₀.₈) · s / δ)², the normal form (Miller 2024, section 5); at least six, at most
    `MOST_NEEDED`. None if the spread is unknown. If pairs are clustered by session, s is error · √n, the
    clustered error for one pair: the same form times the design effect (Kish 1965), for pairs distributed
    over sessions like these.
    """
    if spread == 0 or difference == 0:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf(1 - SIGNIFICANT / 2) + normal.inv_cdf(POWER)
    return min(MOST_NEEDED, max(FEWEST, ceil(min(reach * spread / difference, MOST_NEEDED) ** 2)))


def _compared(
    metric: Metric, values: list[tuple[float, float]], clusters: list[Hashable], excluded: Mapping[str, int]
) -> PairedResult:
    scale = 1.0 if metric.bounded else max(abs(each) for pair in values for each in pair)
    differences = levelled([b - a for a, b in values], scale)
    spread, middle = deviation(differences), mean(differences)
    for_one = standard_error(differences, clusters) * sqrt(len(values))
    mean_a = mean([a for a, _ in values])
    around = interval(differences, clusters, scale)
    matters = metric.matters if metric.bounded else metric.matters * abs(mean_a)
    found = PairedResult(
        metric=metric.name,
        n=len(values),
        excluded=excluded,
        mean_a=mean_a,
        mean_b=mean([b for _, b in values]),
        difference=middle,
        interval=around.within(-1, 1) if around is not None and metric.bounded else around,
        dz=middle / spread if spread else None,
        matters=matters,
        needed=needed_pairs(for_one, matters) if len(values) > 1 else None,
        pairs=tuple(values) if len(values) < FEWEST else (),
    )
    return _tested(metric, found, values, differences)


def _tested(
    metric: Metric, found: PairedResult, values: list[tuple[float, float]], differences: list[float]
) -> PairedResult:
    up, down = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    wins, losses = (up, down) if metric.higher_is_better else (down, up)
    binary = metric.bounded and all(each in {0.0, 1.0} for pair in values for each in pair)
    ranks, signs = exact.signed_ranks(differences), exact.sign_test(up, down)
    return replace(
        found,
        wins=wins,
        losses=losses,
        ties=len(differences) - up - down,
        test=MCNEMAR if binary else WILCOXON,
        p=signs if binary else ranks.p,
        p_exact=binary or ranks.exact,
        sign_p=signs,
        rank_biserial=ranks.rank_biserial,
        verdict=_verdict(metric, found, signs if binary else ranks.p),
    )


def _verdict(metric: Metric, found: PairedResult, p: float) -> str:
    """Return the verdict by one metric alone; `corrected` withdraws it if the adjusted p is too large."""
    if found.interval is None or found.difference is None:
        return TOO_FEW
    if p >= SIGNIFICANT or not found.interval.excludes_zero:
        return NOT_SHOWN
    return B_BETTER if (found.difference > 0) == metric.higher_is_better else A_BETTER


def _judged(result: PairedResult, p_holm: float | None) -> PairedResult:
    taken_back = p_holm is not None and p_holm >= SIGNIFICANT and differs(result)
    return replace(result, p_holm=p_holm, verdict=NOT_SHOWN if taken_back else result.verdict)


def _excluded(pairs: Sequence[Pair]) -> dict[str, int]:
    """Return why pairs have no value, most frequent first; a pair that lacks both counts under A's and B's reason together."""
    counts: Counter[str] = Counter()
    for pair in pairs:
        sides = [("A", pair.a), ("B", pair.b)]
        reasons = [f"{side}: {each.missing or 'unknown'}" for side, each in sides if each.value is None]
        if reasons:
            counts[", ".join(reasons)] += 1
    return dict(counts.most_common())
