"""Group steps for the compact view: a call with its results, and consecutive repeats.

Steps are grouped only within a hundred of the session (1 to 100, 101 to 200 …), so that groups do not depend on which
part is viewed. A run across the end of a hundred is two rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from timemachine.recording.timeline.pure.nesting import Row

WIDTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The steps of one row, in order: `units` are repeats, each a step, or a call with its results."""

    units: Sequence[Sequence[Row]]

    @property
    def head(self) -> Row:
        return self.units[0][0]

    @property
    def steps(self) -> list[Row]:
        """All steps, in the order of the session."""
        return sorted((step for unit in self.units for step in unit), key=lambda step: step.sequence)

    @property
    def failed(self) -> bool:
        """Whether any failed; failed steps are never grouped with others."""
        return _failed(self.units[0])

    @property
    def duration_ms(self) -> float | None:
        """The total time of its units: that of a call if recorded, else of its results; None if no time was recorded."""
        recorded = [took for unit in self.units if (took := _took(unit)) is not None]
        return sum(recorded) if recorded else None


def hundred(sequence: int) -> int:
    """Return the hundred of a step; steps 1 to 100 are in 0."""
    return (sequence - 1) // WIDTH


def bundles(steps: Sequence[Row]) -> list[Bundle]:
    """Return the rows of these steps, ordered by first step; every step is in exactly one."""
    found: list[Bundle] = []
    for _, within in groupby(steps, key=lambda step: hundred(step.sequence)):
        found += [Bundle(units=list(repeats)) for _, repeats in groupby(_units(within), key=_alike)]
    return found


def _units(steps: Iterable[Row]) -> list[list[Row]]:
    """Return each step separately, but the results of a tool call with their call (by call id, or by parent)."""
    units: list[list[Row]] = []
    calls: dict[tuple[str, str | int], list[Row]] = {}
    for step in steps:
        call = _call_of(step, calls) if step.kind == "tool_result" else None
        if call is not None:
            call.append(step)
            continue
        units.append([step])
        if step.kind == "tool_call":
            calls |= dict.fromkeys(_names(step), units[-1])
    return units


def _names(call: Row) -> Iterator[tuple[str, str | int]]:
    yield "sequence", call.sequence
    if call.call_id is not None:
        yield "call", call.call_id
    if call.client_id is not None:
        yield "id", call.client_id


def _call_of(result: Row, calls: dict[tuple[str, str | int], list[Row]]) -> list[Row] | None:
    named = (
        ("call", result.call_id),
        ("id", result.parent_id_given),
        ("sequence", result.parent_sequence),
    )
    return next(
        (calls[name, given] for name, given in named if given is not None and (name, given) in calls), None
    )


def _alike(unit: Sequence[Row]) -> tuple[str, bool, str | None, str]:
    """Return what repeats have in common: kind, failure, and tool, or label if there is no tool."""
    head = unit[0]
    return head.kind, _failed(unit), head.tool, head.label if head.tool is None else ""


def _failed(unit: Sequence[Row]) -> bool:
    return any(step.failed for step in unit)


def _took(unit: Sequence[Row]) -> float | None:
    own, *results = (step.duration_ms for step in unit)
    recorded = [took for took in results if took is not None]
    return own if own is not None else sum(recorded) if recorded else None
