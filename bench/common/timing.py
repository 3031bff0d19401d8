"""How long something takes, by the clock."""

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def milliseconds(works: Sequence[Callable[[], object]]) -> list[float]:
    """How long each takes, in order, after the first one was done once without being counted."""
    works[0]()
    return [seconds(each) * 1000 for each in works]


def median_ms(work: Callable[[], object], runs: int) -> float:
    """The median of some runs, after one that does not count."""
    return statistics.median(milliseconds([work] * runs))


def quantile(values: Sequence[float], share: float) -> float:
    """The value at this share of the sorted values: 0.5 is the median."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
