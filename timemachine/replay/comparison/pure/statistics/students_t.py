"""Quantiles of Student's t distribution, without scipy."""

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p

CLOSE_ENOUGH = 1e-15
MOST_TERMS = 500
HALVINGS = 100
_TINY = 1e-300


@lru_cache(maxsize=512)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the t value below which the distribution with these degrees of freedom has this probability (0.5 to below 1).

    Found by bisection, because the distribution function is monotone. Accurate to about 12 digits.
    """
    low, high = 0.0, 1.0
    while t_distribution(high, degrees) < probability:
        low, high = high, high * 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if t_distribution(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def t_distribution(t: float, degrees: float) -> float:
    """Return P(T ≤ t) for t ≥ 0, by the regularised incomplete beta function (NIST DLMF 8.17; Abramowitz and Stegun 26.7.1)."""
    return 0.5 + incomplete_beta(0.5, degrees / 2, t * t / (degrees + t * t)) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for 0 ≤ x ≤ 1, by its continued fraction (NIST DLMF 8.17.22)."""
    if x in {0.0, 1.0}:
        return x
    if x > (a + 1) / (a + b + 2):  # the fraction of the other tail converges quickly there
        return 1 - incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction by Lentz's method as modified by Thompson and Barnett (1986)."""
    value, above, below, change, number = _TINY, _TINY, 0.0, inf, 0
    while abs(change - 1) > CLOSE_ENOUGH and number < MOST_TERMS:
        term = _term(a, b, x, number)
        below = 1 / (1 + term * below or _TINY)
        above = 1 + term / above or _TINY
        change = above * below
        value *= change
        number += 1
    return value


def _term(a: float, b: float, x: float, number: int) -> float:
    m = number // 2
    if number == 0:
        return 1.0
    if number % 2 == 0:
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
