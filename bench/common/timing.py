"""Wall-clock timing."""

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def milliseconds(works: Sequence[Callable[[], object]]) -> list[float]:
    """Return how long each takes, in order, after one uncounted run of the first."""
    works[0]()
    return [seconds(each) * 1000 for each in works]


def median_ms(work: Callable[[], object], runs: int) -> float:
    """Return the median of several runs, after an uncounted one."""
    return statistics.median(milliseconds([work] * runs))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value at this share of the sorted values: 0.5 is the median."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
