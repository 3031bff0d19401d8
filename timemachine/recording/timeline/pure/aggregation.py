"""Totals of some steps of a session, and the same by kind, tool, model or agent.

Time is the sum of recorded durations: a step that contains others includes theirs, and parallel steps each count.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from timemachine.recording.timeline.pure.filter import Filter, Named
from timemachine.recording.usage.pure.figures import Sums, summed

GROUPS: Final = ("kind", "tool", "model", "agent")
LONGEST_NAME: Final = 500
"""A filter is part of a URL, which limits its length."""


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
    """Return the lines of one grouping, from sums by value; a value may occur several times.

    A correction can be on another line than its call, and takes back nothing there.
    """
    found: dict[str | None, list[Sums]] = {}
    for value, sums in parts:
        found.setdefault(value, []).append(sums)
    each = {value: summed(several) for value, several in found.items()}
    whole = summed(each.values())
    lines = [Line(value=value, sums=_shown(sums), share=_share(sums, whole)) for value, sums in each.items()]
    return BottomUp(by=by, whole=_shown(whole), lines=tuple(sorted(lines, key=_order)))


def narrowed(shown: Filter, by: str, value: str | None) -> Filter | None:
    """Return the filter for the steps of a line; None if no filter can express it: an empty or very long name, or one
    with `*`."""
    if by == "kind" and value is not None:
        return replace(shown, kinds=(value,))
    if value is not None and (not 0 < len(value) <= LONGEST_NAME or "*" in value):
        return None
    only = Named(field=by, values=("*",), negated=True) if value is None else Named(field=by, values=(value,))
    return shown if only in shown.terms else replace(shown, terms=(*shown.terms, only))


def _shown(sums: Sums) -> Sums:
    return replace(sums, unknown_cost_calls=max(sums.unknown_cost_calls, 0))


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
