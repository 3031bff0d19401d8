"""A paired result in words that claim no more than it shows."""

from collections.abc import Callable, Mapping
from typing import Final

from timemachine.core.pure.numbers import counted, money
from timemachine.replay.comparison.pure.statistics.intervals import (
    ALL_ZERO,
    BOOTSTRAP,
    CLUSTERED_BOOTSTRAP,
    CLUSTERED_T,
    NO_SPREAD,
    PAIRED_T,
    Interval,
)
from timemachine.replay.comparison.pure.statistics.paired import (
    INDISTINGUISHABLE,
    LEAST_LATENCY_MS,
    NOT_SHOWN,
    TOO_FEW,
    PairedResult,
)

UNITS: Final[Mapping[str, Callable[[float], str]]] = {
    "share": lambda value: f"{value:.2f}",
    "score": lambda value: f"{value:.2f}",
    "usd": money,
    "ms": lambda value: f"{value:,.0f} ms" if abs(value) >= 10 or not value else f"{value:.2g} ms",  # noqa: PLR2004
    "tokens": lambda value: f"{value:,.0f}" if abs(value) >= 10 or not value else f"{value:.2g}",  # noqa: PLR2004
}
METHODS: Final = {
    PAIRED_T: "paired t",
    CLUSTERED_T: "t, clustered by session",
    BOOTSTRAP: "percentile bootstrap",
    CLUSTERED_BOOTSTRAP: "percentile bootstrap over sessions",
    NO_SPREAD: "all differences the same: rule of three",
    ALL_ZERO: "every value is 0, so nothing shows how large another could be",
}
_CLOSER: Final = frozenset({"agreement", "same_tools", "same_arguments"})
"""The metrics that say how close an answer is to the recording, which may be wrong: closer is not better."""
_SMALL: Final = f"differences below {LEAST_LATENCY_MS} ms can come from running the variants at the same time"
_ITSELF: Final = "the noise floor shows a difference of a model against itself"
NOT_COMPARED: Final = "not compared"
SMALLEST_P: Final = 0.001
MOST_NEEDED_SHOWN: Final = 1_000_000


def figure(value: float | None, unit: str) -> str:
    """Return a value with its unit; "unknown" for None."""
    return "unknown" if value is None else UNITS[unit](value)


def signed(value: float | None, unit: str) -> str:
    """Return a difference with its sign: `+0.19`, `−$0.002`."""
    if value is None:
        return "unknown"
    sign = "−" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{UNITS[unit](abs(value))}"


def interval_words(found: Interval | None, unit: str) -> str:
    """Return an interval as `[+0.08, +0.30]`; "no interval" for None."""
    if found is None:
        return "no interval"
    return f"[{signed(found.low, unit)}, {signed(found.high, unit)}]"


def p_words(p: float | None) -> str:
    """Return a p value as `p = 0.031` or `p < 0.001`; "no test" for None."""
    if p is None:
        return "no test"
    return f"p {_p_figure(p)}" if p < SMALLEST_P else f"p = {_p_figure(p)}"


def _p_figure(p: float) -> str:
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def verdict_words(result: PairedResult, unit: str) -> str:
    """Return the verdict: `B better`, `A better`, `no difference shown (up to ±0.12)`, `no difference shown`, `too few`, `not compared`."""
    if not result.n:
        return NOT_COMPARED
    if result.verdict != NOT_SHOWN or result.interval is None or result.interval.method == ALL_ZERO:
        return result.verdict
    return f"{NOT_SHOWN} (up to ±{UNITS[unit](result.interval.farthest)})"


def in_words(result: PairedResult, unit: str) -> str:
    """Return the verdict for people: what is closer to the recording `agrees more`, everything else is `better`."""
    return verdict_words(result, unit).replace("better", comparatives(result.metric)[0])


def comparatives(metric: str) -> tuple[str, str]:
    """Return the words for the one that is ahead in a metric and for the one that is behind."""
    return ("agrees more", "agrees less") if is_closeness(metric) else ("better", "worse")


def is_closeness(metric: str) -> bool:
    """Return whether a metric says how close an answer is to the recording, and not how good."""
    return metric in _CLOSER


def sentence(result: PairedResult, unit: str, noun: str) -> str:
    """Return the verdict with its basis: both means, the difference with its interval, the wins and losses, and the p value.

    `noun` is what is compared: `ask`, `model call` or `step`.
    """
    if not result.n:
        return f"{NOT_COMPARED}: no {noun} has a value on both sides{_only_reason(result)}"
    means = f"mean {figure(result.mean_a, unit)} against {figure(result.mean_b, unit)}"
    difference = f"{signed(result.difference, unit)} {interval_words(result.interval, unit)}"
    more, less = comparatives(result.metric)
    split = f"B {more} in {result.wins}, {less.removeprefix('agrees ')} in {result.losses}, the same in {result.ties} of {counted(result.n, noun)}"
    is_small = result.difference is not None and abs(result.difference) < LEAST_LATENCY_MS
    note = f" ({_SMALL if is_small else _ITSELF})" if result.verdict == INDISTINGUISHABLE else ""
    return f"{in_words(result, unit)}{note}: {means}, {difference}; {split}; {_tested(result)}{_needed(result, unit, noun)}"


def _only_reason(result: PairedResult) -> str:
    """Return why no pair has a value, if it is the same for all."""
    return f" ({next(iter(result.excluded))})" if len(result.excluded) == 1 else ""


def _tested(result: PairedResult) -> str:
    """Return the corrected p value, and the uncorrected one too if they differ."""
    if result.p is None or result.p_holm is None or result.p == result.p_holm:
        return p_words(result.p_holm)
    return f"{p_words(result.p)}, {_p_figure(result.p_holm)} after Holm's correction for {counted(result.tests, 'test')}"


def _needed(result: PairedResult, unit: str, noun: str) -> str:
    if result.verdict not in {TOO_FEW, NOT_SHOWN}:
        return ""
    if result.needed is None or result.matters is None:
        return ""
    about = (
        f"about {counted(result.needed, noun)}"
        if result.needed <= MOST_NEEDED_SHOWN
        else f"over {counted(MOST_NEEDED_SHOWN, noun)}"
    )
    return f"; {about} would show a difference of {UNITS[unit](result.matters)}"
