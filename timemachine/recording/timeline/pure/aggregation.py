"""Totals of some steps of a session, and the same by kind, tool, model or agent.

Time is the sum of recorded durations: a step that contains others includes theirs, and parallel steps each count.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from timemachine.core.pure.numbers import sum_known
from timemachine.recording.timeline.pure.filter import Filter, Named

GROUPS: Final = ("kind", "tool", "model", "agent")
LONGEST_NAME: Final = 500
"""A filter is part of a URL, which limits its length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Counts and sums of some steps.

    Tokens are None if none were recorded. US dollars cover the calls whose cost is known, and are None if there are
    none. `timed` steps have a duration; `duration_ms` is their total. `calls` are model calls, `tool_calls` tool
    calls, `errors` failed steps. `unknown_cost_calls` are in no sum.
    """

    steps: int = 0
    timed: int = 0
    duration_ms: float = 0.0
    calls: int = 0
    tool_calls: int = 0
    errors: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    unknown_cost_calls: int = 0

    @property
    def took_ms(self) -> float | None:
        """The total time of the steps; None if none was recorded."""
        return self.duration_ms if self.timed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One kind, tool, model or agent; None for the steps without one. `share` of the total time is 0 to 1, None if no
    time was recorded."""

    value: str | None
    sums: Sums
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BottomUp:
    """The totals of some steps, and a line for each group, the slowest first."""

    by: str
    whole: Sums
    lines: tuple[Line, ...]


def bottom_up(by: str, parts: Iterable[tuple[str | None, Sums]]) -> BottomUp:
    """Return the lines of one grouping, from sums by value; a value may occur several times."""
    found: dict[str | None, list[Sums]] = {}
    for value, sums in parts:
        found.setdefault(value, []).append(sums)
    each = {value: summed(several) for value, several in found.items()}
    whole = summed(each.values())
    lines = [Line(value=value, sums=sums, share=_share(sums, whole)) for value, sums in each.items()]
    return BottomUp(by=by, whole=whole, lines=tuple(sorted(lines, key=_order)))


def summed(several: Iterable[Sums]) -> Sums:
    """Return the sum of all."""
    found = list(several)
    return Sums(
        steps=sum(each.steps for each in found),
        timed=sum(each.timed for each in found),
        duration_ms=sum(each.duration_ms for each in found),
        calls=sum(each.calls for each in found),
        tool_calls=sum(each.tool_calls for each in found),
        errors=sum(each.errors for each in found),
        input_tokens=sum_known(*(each.input_tokens for each in found)),
        output_tokens=sum_known(*(each.output_tokens for each in found)),
        cost_usd=sum_known(*(each.cost_usd for each in found)),
        unknown_cost_calls=sum(each.unknown_cost_calls for each in found),
    )


def narrowed(shown: Filter, by: str, value: str | None) -> Filter | None:
    """Return the filter for the steps of a line; None if no filter can express it: an empty or very long name, or one
    with `*`."""
    if by == "kind" and value is not None:
        return replace(shown, kinds=(value,))
    if value is not None and (not 0 < len(value) <= LONGEST_NAME or "*" in value):
        return None
    only = Named(field=by, values=("*",), negated=True) if value is None else Named(field=by, values=(value,))
    return shown if only in shown.terms else replace(shown, terms=(*shown.terms, only))


def _share(sums: Sums, whole: Sums) -> float | None:
    if not sums.timed:
        return None
    return sums.duration_ms / whole.duration_ms if whole.duration_ms > 0 else None


def _order(line: Line) -> tuple[bool, float, int, bool, str]:
    """By time, those without one last; then by steps, then by name."""
    return (
        not line.sums.timed,
        -line.sums.duration_ms,
        -line.sums.steps,
        line.value is None,
        str(line.value),
    )
