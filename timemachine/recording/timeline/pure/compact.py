"""Which steps stand together in the compact view: a call with its result, and repeats of the same in a row. Pure.

Steps are only ever collapsed within a hundred of the session (1 to 100, 101 to 200 …): so what stands together does not depend on
which part of the session is looked at, and a run over a hundred's end is told in two rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol

WIDTH: Final = 100


class Collapsible(Protocol):
    """What collapsing needs to know of a recorded action."""

    @property
    def sequence(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def call_id(self) -> str | None: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def parent_id_given(self) -> str | None: ...
    @property
    def parent_sequence(self) -> int | None: ...
    @property
    def duration_ms(self) -> float | None: ...
    @property
    def failed(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle[S: Collapsible]:
    """Steps that one row stands for, in their order: `units` repeats, each a step, or a call with its results."""

    units: Sequence[Sequence[S]]

    @property
    def head(self) -> S:
        """The first of them."""
        return self.units[0][0]

    @property
    def steps(self) -> list[S]:
        """All of them, in the order of the session."""
        return sorted((step for unit in self.units for step in unit), key=lambda step: step.sequence)

    @property
    def failed(self) -> bool:
        """Whether any of them failed; failed ones are never collapsed with others."""
        return _failed(self.units[0])

    @property
    def duration_ms(self) -> float | None:
        """The time of its units together: a call's own where it was recorded, else its results'; None where none was."""
        recorded = [took for unit in self.units if (took := _took(unit)) is not None]
        return sum(recorded) if recorded else None


def hundred(sequence: int) -> int:
    """Which hundred a step is in; steps 1 to 100 are in 0."""
    return (sequence - 1) // WIDTH


def bundles[S: Collapsible](steps: Sequence[S]) -> list[Bundle[S]]:
    """The rows of these steps, each by its first step; every step is in exactly one."""
    return [
        bundle
        for _, within in groupby(steps, key=lambda step: hundred(step.sequence))
        for bundle in _runs(_units(list(within)))
    ]


def _units[S: Collapsible](steps: Sequence[S]) -> list[list[S]]:
    """Each step by itself, but the results of a tool's call with it: those of the same call id, or whose parent is the call."""
    units: list[list[S]] = []
    calls: dict[tuple[str, str | int], list[S]] = {}
    for step in steps:
        call = _call_of(step, calls) if step.kind == "tool_result" else None
        if call is not None:
            call.append(step)
            continue
        units.append([step])
        if step.kind == "tool_call":
            calls |= dict.fromkeys(_names(step), units[-1])
    return units


def _names(call: Collapsible) -> Iterator[tuple[str, str | int]]:
    yield "sequence", call.sequence
    if call.call_id is not None:
        yield "call", call.call_id
    if call.client_id is not None:
        yield "id", call.client_id


def _call_of[S: Collapsible](
    result: Collapsible, calls: dict[tuple[str, str | int], list[S]]
) -> list[S] | None:
    named = (
        ("call", result.call_id),
        ("id", result.parent_id_given),
        ("sequence", result.parent_sequence),
    )
    return next(
        (calls[name, given] for name, given in named if given is not None and (name, given) in calls), None
    )


def _runs[S: Collapsible](units: Sequence[Sequence[S]]) -> Iterator[Bundle[S]]:
    for _, repeats in groupby(units, key=_alike):
        yield Bundle(units=list(repeats))


def _alike(unit: Sequence[Collapsible]) -> tuple[str, bool, str | None, str]:
    """What repeats have in common: their kind, whether they failed, and their tool, or their label where there is none."""
    head = unit[0]
    return head.kind, _failed(unit), head.tool, head.label if head.tool is None else ""


def _failed(unit: Sequence[Collapsible]) -> bool:
    return any(step.failed for step in unit)


def _took(unit: Sequence[Collapsible]) -> float | None:
    own, *results = (step.duration_ms for step in unit)
    recorded = [took for took in results if took is not None]
    return own if own is not None else sum(recorded) if recorded else None
