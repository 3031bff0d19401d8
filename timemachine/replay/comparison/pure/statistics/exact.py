"""Exact two-sided tests of paired values: the sign test, McNemar's test, and Wilcoxon's signed-rank test with Pratt's zeros."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, erfc, sqrt

import numpy as np

MOST_EXACT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks:
    """The result of Wilcoxon's test: the rank sums of either sign, p, whether p is exact, and the rank-biserial correlation.

    The correlation is (positive − negative) / total (Kerby 2014), None if no pair differs.
    """

    positive: float
    negative: float
    p: float
    exact: bool
    rank_biserial: float | None


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p value of the sign test: the binomial probability of a split at least this uneven, at p = ½.

    For values of 0 and 1 this is McNemar's exact test (McNemar 1947; Dixon and Mood 1946 for signs).
    """
    differing = wins + losses
    tail = sum(comb(differing, few) for few in range(min(wins, losses) + 1))
    return min(1.0, float(2 * tail / 2**differing))


def signed_ranks(differences: Sequence[float]) -> SignedRanks:
    """Run Wilcoxon's signed-rank test (1945) on paired differences, with Pratt's treatment of zeros (1959).

    Zeros are ranked with the others and their ranks are then dropped; equal values share their mean rank. For
    up to `MOST_EXACT` pairs that differ, p is exact over all signs of the actual ranks, ties included; above
    that it is a normal approximation.
    """
    ranks = mean_ranks([abs(each) for each in differences])
    nonzero = [(rank, value > 0) for rank, value in zip(ranks, differences, strict=True) if value]
    positive = sum(rank for rank, up in nonzero if up)
    total = sum(rank for rank, _ in nonzero)
    exact = len(nonzero) <= MOST_EXACT
    p = _all_signs if exact else _normal_limit
    return SignedRanks(
        positive=positive,
        negative=total - positive,
        p=p([rank for rank, _ in nonzero], positive),
        exact=exact,
        rank_biserial=(2 * positive - total) / total if total else None,
    )


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values of several tests with Holm's correction (1979), which bounds the chance of any false positive."""
    adjusted = [1.0] * len(p_values)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = worst
    return adjusted


def _all_signs(ranks: Sequence[float], positive: float) -> float:
    """Return twice the smaller tail of the sum of positive ranks, over all equally likely signs.

    Ranks are multiples of one half, so twice the sum is an integer. Its distribution is built up rank by
    rank.
    """
    doubled = [round(2 * rank) for rank in ranks]
    chances = np.ones(1)
    for each in doubled:
        wider = np.zeros(len(chances) + each)
        wider[: len(chances)] += chances / 2
        wider[each:] += chances / 2
        chances = wider
    at = round(2 * positive)
    below, above = float(chances[: at + 1].sum()), float(chances[at:].sum())
    return min(1.0, 2 * min(below, above))


def _normal_limit(ranks: Sequence[float], positive: float) -> float:
    """Return the same by normal approximation: the sum has mean Σr/2 and variance Σr²/4, ties and zeros included."""
    z = (positive - sum(ranks) / 2) / sqrt(sum(rank * rank for rank in ranks) / 4)
    return erfc(abs(z) / sqrt(2))
