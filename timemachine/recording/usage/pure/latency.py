"""Quantiles of durations counted in buckets. The upper end of each bucket is `step` times its lower end."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Median and 95th percentile in milliseconds, None if nothing was timed; `timed` calls have a duration.

    Each is the geometric middle of its bucket: with buckets 5% wide it is within 2.5% of the call's duration.
    Nearest-rank method. Anything below 0.001 ms counts as 0.001 ms.
    """

    p50_ms: float | None = None
    p95_ms: float | None = None
    timed: int = 0


def latency_of(buckets: Mapping[int, int], step: float) -> Latency:
    """Return the quantiles of calls counted per bucket, which covers `step ** bucket` ms to the next power."""
    timed = sum(buckets.values())
    if not timed:
        return Latency()
    ordered = sorted(buckets.items())
    return Latency(
        p50_ms=_quantile(ordered, math.ceil(timed * 50 / 100), step),
        p95_ms=_quantile(ordered, math.ceil(timed * 95 / 100), step),
        timed=timed,
    )


def merge_histograms(histograms: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Return the sum of all histograms."""
    found: Counter[int] = Counter()
    for each in histograms:
        found.update(each)
    return found


def _quantile(ordered: Sequence[tuple[int, int]], rank: int, step: float) -> float:
    """Return the middle of the bucket with the call of this rank, counted from 1, to four digits."""
    reached = accumulate(number for _, number in ordered)
    bucket = next(bucket for (bucket, _), seen in zip(ordered, reached, strict=True) if seen >= rank)
    return float(f"{step ** (bucket + 0.5):.4g}")
