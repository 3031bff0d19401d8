"""Summaries of one variant's values, and the ratio of two variants' medians."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The number of values, their sum, median and 95th percentile; None if there are none."""

    n: int
    total: float | None = None
    p50: float | None = None
    p95: float | None = None


def spread(values: Sequence[float]) -> Spread:
    """Return the sum, median and 95th percentile of the values."""
    if not values:
        return Spread(n=0)
    return Spread(n=len(values), total=sum(values), p50=percentile(values, 0.5), p95=percentile(values, 0.95))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share lies, interpolated (Hyndman and Fan 1996, type 7; numpy's default)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ratio_of_medians(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return the median of B divided by that of A; None without pairs or if A's median is 0."""
    if not a or not b:
        return None
    below = percentile(a, 0.5)
    return percentile(b, 0.5) / below if below else None
