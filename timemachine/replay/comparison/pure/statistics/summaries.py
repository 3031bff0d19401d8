"""One arm's figures by themselves, and the times of two arms against each other. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How many values there are, their sum, and the values below which a half and 95 % of them lie; None where there are none."""

    n: int
    total: float | None = None
    p50: float | None = None
    p95: float | None = None


def spread(values: Sequence[float]) -> Spread:
    """The sum, median and 95th percentile of the values."""
    if not values:
        return Spread(n=0)
    return Spread(n=len(values), total=sum(values), p50=percentile(values, 0.5), p95=percentile(values, 0.95))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies, between the two nearest ones (Hyndman and Fan 1996, type 7; numpy's default)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ratio_of_medians(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The median of B over that of A, of the same asks; None without pairs, or where A's median is 0."""
    if not a or not b:
        return None
    below = percentile(a, 0.5)
    return percentile(b, 0.5) / below if below else None
