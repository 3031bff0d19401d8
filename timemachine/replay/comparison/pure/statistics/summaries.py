"""Summaries of one variant's values, and the ratio of two variants' medians."""

from collections.abc import Sequence
from math import floor

from timemachine.core.pure.schemas import Schema


class SpreadOut(Schema):
    """How many values there are, their sum, and the values below which half and 95% of them lie; null if there are none."""

    n: int
    total: float | None
    p50: float | None
    p95: float | None


def spread(values: Sequence[float]) -> SpreadOut:
    """Return the sum, median and 95th percentile of the values."""
    return SpreadOut.model_construct(
        n=len(values),
        total=sum(values) if values else None,
        p50=percentile(values, 0.5) if values else None,
        p95=percentile(values, 0.95) if values else None,
    )


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
