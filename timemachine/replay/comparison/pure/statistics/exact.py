"""Exact two-sided tests of paired values: the sign test, McNemar's, Wilcoxon's signed ranks with Pratt's zeros. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, erfc, sqrt

import numpy as np

MOST_EXACT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks:
    """Wilcoxon's test: the sums of the ranks for either sign, p, whether p is exact, and the matched-pairs rank-biserial
    correlation (for − against, over all; Kerby 2014), which is None where no pair differs."""

    positive: float
    negative: float
    p: float
    exact: bool
    rank_biserial: float | None


def sign_test(wins: int, losses: int) -> float:
    """P of so lopsided a split of the pairs that differ, were either side as likely (binomial test, two-sided, p = ½).

    For values that are 0 or 1 this is McNemar's exact test (McNemar 1947; Dixon and Mood 1946 for signs).
    """
    differing = wins + losses
    tail = sum(comb(differing, few) for few in range(min(wins, losses) + 1))
    return min(1.0, float(2 * tail / 2**differing))


def signed_ranks(differences: Sequence[float]) -> SignedRanks:
    """Wilcoxon's signed-rank test (1945) on paired differences, with Pratt's treatment of zeros (1959).

    Zeros are ranked with the others and their ranks then dropped; equal sizes share their mean rank. Up to `MOST_EXACT` pairs
    that differ p is exact, over all signs of the very ranks at hand (ties included); above by the normal limit.
    """
    ranks = mean_ranks([abs(each) for each in differences])
    kept = [(rank, value > 0) for rank, value in zip(ranks, differences, strict=True) if value]
    positive = sum(rank for rank, up in kept if up)
    total = sum(rank for rank, _ in kept)
    exact = len(kept) <= MOST_EXACT
    p = _all_signs if exact else _normal_limit
    return SignedRanks(
        positive=positive,
        negative=total - positive,
        p=p([rank for rank, _ in kept], positive),
        exact=exact,
        rank_biserial=(2 * positive - total) / total if total else None,
    )


def mean_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1; equal values share the mean of their ranks."""
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
    """The p values of several tests, adjusted together so that one false alarm among all stays as rare as stated (Holm 1979)."""
    adjusted = [1.0] * len(p_values)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = worst
    return adjusted


def _all_signs(ranks: Sequence[float], positive: float) -> float:
    """Twice the smaller tail of the sum of the positive ranks, over all equally likely signs.

    Ranks are halves at worst, so twice the sum is a whole number; its distribution is built up rank by rank.
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
    """The same by the normal limit: the sum has mean Σr/2 and variance Σr²/4, ties and zeros included."""
    z = (positive - sum(ranks) / 2) / sqrt(sum(rank * rank for rank in ranks) / 4)
    return erfc(abs(z) / sqrt(2))
