"""Quantiles of durations that were counted in buckets, each reaching up to `step` times as far as the one before. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """The median and the 95th percentile in milliseconds, None where nothing was timed; `timed` calls have a duration.

    Each is the geometric middle of its bucket, so with buckets that are 5 % wide it is within 2.5 % of the call's own duration.
    Nearest rank: so many of the calls took no longer. What took less than 0.001 ms counts as 0.001 ms.
    """

    p50_ms: float | None = None
    p95_ms: float | None = None
    timed: int = 0


def latency_of(buckets: Mapping[int, int], step: float) -> Latency:
    """The quantiles of calls of which so many lie in each bucket: from `step` to the power of it milliseconds to the next power."""
    timed = sum(buckets.values())
    if not timed:
        return Latency()
    ordered = sorted(buckets.items())
    return Latency(
        p50_ms=_quantile(ordered, math.ceil(timed * 50 / 100), step),
        p95_ms=_quantile(ordered, math.ceil(timed * 95 / 100), step),
        timed=timed,
    )


def together(histograms: Iterable[Mapping[int, int]]) -> Counter[int]:
    """All of them in one."""
    found: Counter[int] = Counter()
    for each in histograms:
        found.update(each)
    return found


def _quantile(ordered: Sequence[tuple[int, int]], rank: int, step: float) -> float:
    """The middle of the bucket that holds the call of this rank, counted from 1; four digits of it."""
    reached = accumulate(number for _, number in ordered)
    bucket = next(bucket for (bucket, _), seen in zip(ordered, reached, strict=True) if seen >= rank)
    return float(f"{step ** (bucket + 0.5):.4g}")
