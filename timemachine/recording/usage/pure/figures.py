"""Sums of recorded work, in total and by agent, model, day and tool.

A cell is what was recorded on one day with one kind, agent, model and tool. Every number is a sum of cells.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Final
from uuid import UUID

from timemachine.recording.sessions.pure.vocabulary import is_model_call
from timemachine.recording.usage.pure.latency import Latency
from timemachine.recording.usage.pure.span import DAY, Span, Unit
from timemachine.recording.usage.pure.totals import Counts, summed_fields

TOOL_CALL, TOOL_RESULT = "tool_call", "tool_result"

type Value = str | date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums(Counts):
    """Counts and sums of some steps.

    `timed` steps have a duration; `duration_ms` is their total. `calls` are model calls, `tool_calls` tool calls,
    `errors` failed steps.
    """

    steps: int = 0
    timed: int = 0
    duration_ms: float = 0.0
    calls: int = 0
    tool_calls: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether these steps have tokens or a cost, known or not."""
        stated = (self.input_tokens, self.output_tokens, self.cost_usd)
        return any(each is not None for each in stated) or self.unknown_cost_calls != 0

    @property
    def took_ms(self) -> float | None:
        """The total time of the steps; None if none was recorded."""
        return self.duration_ms if self.timed else None


NOTHING: Final = Sums()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What was recorded on one day with one kind, agent, model and tool, in how many sessions. `key` stands for the five
    values."""

    key: UUID
    sessions: int
    day: date
    kind: str
    agent: str | None
    model: str | None
    tool: str | None
    sums: Sums

    @property
    def is_call(self) -> bool:
        """Whether these are model calls."""
        return is_model_call(self.kind, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One agent, model, tag, day or tool; None means "not recorded". `cells` are the keys of the calls that its latency is computed from."""

    value: Value
    sums: Sums
    latency: Latency = field(default_factory=Latency)
    cells: frozenset[UUID] = frozenset()

    @property
    def error_share(self) -> float | None:
        """Failed calls as a share of a tool's calls, 0 to 1; None if there are no calls, or more errors than calls."""
        calls, errors = self.sums.tool_calls, self.sums.errors
        return errors / calls if calls and errors <= calls else None


def summed(several: Iterable[Sums]) -> Sums:
    """Return the sum of all, field by field."""
    return Sums(**summed_fields(Sums, list(several)))


def by_agent(cells: Iterable[Cell]) -> list[Row]:
    """Return a row for each agent, the most expensive first."""
    return dearest_first(_grouped(cells, lambda cell: cell.agent))


def by_model(cells: Iterable[Cell]) -> list[Row]:
    """Return a row for each model that was called, the most expensive first. The row of None has the calls without a
    model's name, and the tokens and costs that were recorded for no call, such as an agent's own sums: the rows add up
    to the total.
    """
    spent = (cell for cell in cells if cell.is_call or cell.sums.is_spent)
    return dearest_first(_grouped(spent, lambda cell: cell.model))


def by_days(cells: Iterable[Cell], span: Span, unit: Unit = DAY) -> list[Row]:
    """Return a row for each day, week or month of the span with recorded work, the latest first. Its value is the first of its days
    in the span."""
    rows = _grouped(cells, lambda cell: span.first_of(cell.day, unit))
    return sorted(rows, key=lambda row: str(row.value), reverse=True)


def by_tool(cells: Iterable[Cell]) -> list[Row]:
    """Return a row for each tool, the most called first. An error counts whether the call or its result recorded it."""
    used = [cell for cell in cells if cell.tool is not None and cell.kind in (TOOL_CALL, TOOL_RESULT)]
    rows = _grouped(used, lambda cell: cell.tool, lambda cell: cell.kind == TOOL_CALL)
    return sorted(rows, key=lambda row: (-row.sums.tool_calls, -row.sums.steps, str(row.value)))


def dearest_first(rows: Iterable[Row]) -> list[Row]:
    """Return the rows sorted by cost, then by calls with unknown cost, then by calls, then by name."""
    return sorted(
        rows,
        key=lambda row: (
            -(row.sums.cost_usd or 0),
            -row.sums.unknown_cost_calls,
            -row.sums.calls,
            -row.sums.steps,
            row.value is None,
            str(row.value),
        ),
    )


def _grouped(
    cells: Iterable[Cell],
    value: Callable[[Cell], Value],
    timed: Callable[[Cell], bool] = lambda cell: cell.is_call,
) -> list[Row]:
    groups: dict[Value, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(value(cell), []).append(cell)
    return [
        Row(
            value=each,
            sums=summed(cell.sums for cell in found),
            cells=frozenset(cell.key for cell in found if timed(cell)),
        )
        for each, found in groups.items()
    ]
