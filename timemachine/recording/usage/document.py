"""Totals of recorded work, and the rows of one group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.usage import costs as queries
from timemachine.recording.usage.costs import CostQuery, Histograms
from timemachine.recording.usage.models import LATENCY_STEP
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import Cell, Row, Sums
from timemachine.recording.usage.pure.latency import Latency, latency_of, merge_histograms

GROUPS: Final = ("agent", "model", "tag", "day", "tool")
OF_CELLS: Final[Mapping[str, Callable[[Sequence[Cell], CostQuery], list[Row]]]] = {
    "agent": lambda cells, _: figures.by_agent(cells),
    "model": lambda cells, _: figures.by_model(cells),
    "day": lambda cells, wanted: figures.by_days(cells, wanted.span.since),
    "tool": lambda cells, _: figures.by_tool(cells),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Number of sessions, sums and latency of all model calls, and the rows of one group."""

    sessions: int
    sums: Sums
    latency: Latency
    rows: Sequence[Row]


def costs(project: Project, wanted: CostQuery, by: str) -> Costs:
    """Return all numbers, grouped by one of `GROUPS`. Three queries, five by tag. Raises `InvalidInput` for any other group."""
    if by not in GROUPS:
        raise InvalidInput(
            f"Costs cannot be grouped by {by[:40]!r}. Use one of: {', '.join(GROUPS)}.",
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
    """Return the latency of all model calls."""
    keys = {cell.key for cell in cells if cell.is_call}
    return latency_of(merge_histograms(histograms[key] for key in keys if key in histograms), LATENCY_STEP)
