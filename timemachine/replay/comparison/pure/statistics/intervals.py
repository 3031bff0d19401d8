"""Confidence intervals of a mean paired difference: paired t, clustered by session, or a seeded bootstrap."""

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from math import fsum, sqrt
from typing import Any, Final

import numpy as np

from timemachine.core.pure.schemas import Schema
from timemachine.replay.comparison.pure.statistics.students_t import t_quantile

CONFIDENCE: Final = 0.95
FEWEST: Final = 6
BOOTSTRAP_FROM: Final = 100
RESAMPLES: Final = 2_000
BLOCK: Final = 50
# Draws for up to this many groups (40 MB) are cached for the next metric. For more, they are drawn again each time.
MOST_KEPT: Final = 20_000
SEED: Final = 20241101
ROUNDING: Final = 1e-9
# Rounding errors are some 1e-16 of the numbers, far below this; no number is shown with this many digits.
FINEST: Final = 1e-12

PAIRED_T, CLUSTERED_T, BOOTSTRAP, CLUSTERED_BOOTSTRAP, NO_SPREAD, ALL_ZERO = (
    "paired_t",
    "clustered_t",
    "bootstrap",
    "clustered_bootstrap",
    "no_spread",
    "all_zero",
)


class Interval(Schema):
    """A 95% interval and the method that made it (one of the six names above). Only `all_zero` has no width."""

    low: float
    high: float
    method: str

    @property
    def farthest(self) -> float:
        """Return the largest absolute difference in the interval."""
        return max(abs(self.low), abs(self.high))

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def within(self, low: float, high: float) -> "Interval":
        """Return the part of the interval that values can reach."""
        return Interval.model_construct(low=max(low, self.low), high=min(high, self.high), method=self.method)


def mean(values: Sequence[float]) -> float:
    """Return the mean, independent of the order of the values."""
    return fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation, over n − 1 (0 for a single value, and if all are equal)."""
    if len(set(values)) == 1:
        return 0.0
    middle = mean(values)
    return sqrt(fsum((each - middle) ** 2 for each in values) / (len(values) - 1))


def standard_error(differences: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the standard error of the mean. Sessions (`clusters`) are the independent units if there are several.

    It is the larger of the cluster-robust error (Liang and Zeger 1986; Miller 2024, section 2.2; with G / (G
    − 1)) and that of independent asks: with few clusters the first is often too small by chance, down to 0
    (Angrist and Pischke 2009, section 8.1).
    """
    alone = deviation(differences) / sqrt(len(differences))
    groups = _grouped(differences, clusters)
    return alone if len(groups) == 1 else max(alone, _clustered_error(differences, groups))


def interval(differences: Sequence[float], clusters: Sequence[Hashable], scale: float) -> Interval | None:
    """Return the interval of the mean difference; None below `FEWEST` pairs, for which only the pairs themselves are shown.

    `clusters` names the session of each pair; if there are several sessions, they are the independent units.
    `scale` is the largest difference that the values allow or showed; differences within a rounding error of
    it are equal. If all differences are equal, the rate of others is at most 1 − 0.05^(1/n) for n independent
    units (the exact form of the rule of three, Hanley and Lippman-Hand 1983). It is assumed that each
    of these is at most as far away as a pair without a difference is, so the test alone decides; if no pair differs, it differs
    by at most `scale`, and if that is 0, nothing shows how large they could be.
    """
    if len(differences) < FEWEST:
        return None
    level = levelled(differences, scale)
    groups = _grouped(level, clusters)
    several = len(groups) > 1
    independent = len(groups) if several else len(level)
    if len(set(level)) == 1:
        most = (1 - (1 - CONFIDENCE) ** (1 / independent)) * (abs(level[0]) or scale)
        method = NO_SPREAD if most else ALL_ZERO
        return Interval.model_construct(low=level[0] - most, high=level[0] + most, method=method)
    if independent >= BOOTSTRAP_FROM:
        return _resampled(level, groups)
    reach = t_quantile((1 + CONFIDENCE) / 2, independent - 1) * standard_error(level, clusters)
    middle = mean(level)
    return Interval.model_construct(
        low=middle - reach, high=middle + reach, method=CLUSTERED_T if several else PAIRED_T
    )


def levelled(values: Sequence[float], scale: float) -> list[float]:
    """Return the values with those equal that are closer together than `FINEST` of `scale`, and 0 if 0 is among them.

    `scale` is the size of the numbers whose differences these are. The function is idempotent and commutes
    with a change of sign.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    found = list(values)
    for level in _levels(order, values, FINEST * scale):
        low, high = values[level[0]], values[level[-1]]
        holds_zero = low <= FINEST * scale and high >= -FINEST * scale
        for place in level:
            found[place] = 0.0 if holds_zero else (low + high) / 2
    return found


def _clustered_error(differences: Sequence[float], groups: Sequence[Sequence[float]]) -> float:
    middle, count = mean(differences), len(groups)
    spread = fsum(fsum(each - middle for each in group) ** 2 for group in groups)
    return sqrt(count / (count - 1) * spread) / len(differences)


def _resampled(differences: Sequence[float], groups: Sequence[Sequence[float]]) -> Interval:
    """Return the bootstrap interval over sessions; over asks for one session, or if sessions are more alike than chance."""
    if len(groups) > 1:
        alone = deviation(differences) / sqrt(len(differences))
        if _clustered_error(differences, groups) >= alone * (1 - ROUNDING):
            return _bootstrap(groups, several=True)
    return _bootstrap([[each] for each in differences], several=False)


def _bootstrap(groups: Sequence[Sequence[float]], *, several: bool) -> Interval:
    """Return the percentile bootstrap interval (Efron 1979) over groups. The seed is fixed, so the same data give the same interval."""
    sums = np.array([fsum(group) for group in groups])
    sizes = np.array([float(len(group)) for group in groups])
    draws = _cached_draws(len(groups)) if len(groups) <= MOST_KEPT else _drawn(len(groups))
    means = [_added(drawn, sums) / _added(drawn, sizes) for drawn in draws]
    low, high = np.quantile(np.concatenate(means), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval.model_construct(
        low=float(low), high=float(high), method=CLUSTERED_BOOTSTRAP if several else BOOTSTRAP
    )


def _added(drawn: Any, values: Any) -> Any:
    """Return the sum of the drawn values in each resample. BLAS is not used: its threads cost more than they save here."""
    return np.einsum("ij,j->i", drawn, values)


@lru_cache(maxsize=2)
def _cached_draws(count: int) -> Sequence[Any]:
    return list(_drawn(count))


def _drawn(count: int) -> Iterator[Any]:
    """Yield how often each group is drawn in each resample, with replacement, in blocks."""
    generator, chances = np.random.default_rng(SEED), np.full(count, 1 / count)
    for _ in range(RESAMPLES // BLOCK):
        # One byte is enough: the chance that one of a hundred or more groups is drawn 256 times is below 10^-500.
        yield generator.multinomial(count, chances, size=BLOCK).astype(np.uint8)


def _grouped(differences: Sequence[float], clusters: Sequence[Hashable]) -> list[list[float]]:
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(differences, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return list(groups.values())


def _levels(order: Sequence[int], values: Sequence[float], tolerance: float) -> Iterator[list[int]]:
    level: list[int] = []
    for place in order:
        if level and values[place] - values[level[-1]] > tolerance:
            yield level
            level = []
        level.append(place)
    if level:
        yield level
