"""Costs as a JSON document: totals, and a page of the rows of one group. Money in US dollars, durations in milliseconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import dollars
from timemachine.recording.usage import costs as queries
from timemachine.recording.usage.costs import Histograms, Wanted
from timemachine.recording.usage.models import LATENCY_STEP
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import Cell, Row, Sums
from timemachine.recording.usage.pure.latency import Latency, latency_of, together

GROUPS: Final = ("agent", "model", "tag", "day", "tool")
OF_CELLS: Final[Mapping[str, Callable[[Sequence[Cell], Wanted], list[Row]]]] = {
    "agent": lambda cells, _: figures.by_agent(cells),
    "model": lambda cells, _: figures.by_model(cells),
    "day": lambda cells, wanted: figures.by_days(cells, wanted.span.since),
    "tool": lambda cells, _: figures.by_tool(cells),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What was asked for: how many sessions, the sums and the latency of all model calls, and the rows of one group."""

    sessions: int
    sums: Sums
    latency: Latency
    rows: Sequence[Row]


def costs(project: Project, wanted: Wanted, by: str) -> Costs:
    """All figures, grouped by one of `GROUPS`. Three queries, five by tag. Raises `InvalidInput` for any other group."""
    if by not in GROUPS:
        raise InvalidInput(
            f"Costs are not told by {by[:40]!r}; `by` is one of {', '.join(GROUPS)}.",
            code="invalid_field",
            field="by",
        )
    cells = queries.cells_of(project, wanted)
    histograms = queries.histograms_of(project, wanted)
    if by == "tag":
        rows = queries.with_latency(
            queries.by_tag(project, wanted), queries.histograms_by_tag(project, wanted)
        )
    else:
        rows = queries.with_latency(OF_CELLS[by](cells, wanted), histograms)
    return Costs(
        sessions=queries.sessions_in(project, wanted),
        sums=figures.summed(cell.sums for cell in cells),
        latency=latency_of_calls(cells, histograms),
        rows=rows,
    )


def latency_of_calls(cells: Sequence[Cell], histograms: Histograms) -> Latency:
    """The latency of all calls of models together."""
    keys = {cell.key for cell in cells if cell.is_call}
    return latency_of(together(histograms[key] for key in keys if key in histograms), LATENCY_STEP)


def totals_json(found: Costs) -> dict[str, Any]:
    """The totals of everything that was asked for."""
    return {"sessions": found.sessions, **_sums_json(found.sums), **_latency_json(found.latency)}


def row_json(row: Row, by: str) -> dict[str, Any]:
    """One row: its value under the name of the group, null where it was not recorded."""
    value = row.value.isoformat() if isinstance(row.value, date) else row.value
    shared = {"error_share": row.error_share} if by == "tool" else {}
    return {by: value, **_sums_json(row.sums), **shared, **_latency_json(row.latency)}


def _sums_json(sums: Sums) -> dict[str, Any]:
    return {
        "actions": sums.steps,
        "calls": sums.calls,
        "tool_calls": sums.tool_calls,
        "errors": sums.errors,
        "input_tokens": sums.input_tokens,
        "output_tokens": sums.output_tokens,
        "cost_usd": dollars(sums.cost_usd),
        "unknown_cost_calls": sums.unknown_cost_calls,
        "cached_calls": sums.cached_calls,
        "saved_usd": dollars(sums.saved_usd),
        "unknown_saved_calls": sums.unknown_saved_calls,
    }


def _latency_json(latency: Latency) -> dict[str, Any]:
    return {"timed_calls": latency.timed, "p50_ms": latency.p50_ms, "p95_ms": latency.p95_ms}
