"""The parts of each bar of the cost plot: one per model, the rest together. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from timemachine.core.pure.numbers import counted
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import NOTHING, Cell, Sums, Value
from timemachine.recording.usage.pure.span import Span

SHOWN: Final = 5
"""Number of models with a colour of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The costs of one model by the first of their days; `name` is None for what was recorded without a model."""

    name: str | None
    sums: Mapping[Value, Sums]

    def cost(self, first: Value) -> Decimal:
        """Return the known cost on these days."""
        return self.sums.get(first, NOTHING).cost_usd or Decimal(0)


def series_of(cells: Iterable[Cell], span: Span) -> list[Series]:
    """Return the five most expensive models, and one series for all others, which together add up to the costs of all days."""
    cells = list(cells)
    models = [
        row.value for row in figures.by_model(cells) if row.sums.cost_usd or row.sums.unknown_cost_calls
    ]
    shown, rest = models[:SHOWN], models[SHOWN:]
    found = [
        Series(name=None if model is None else str(model), sums=_by_days(cells, {model}, span))
        for model in shown
    ]
    if rest:
        found.append(Series(name=counted(len(rest), "other model"), sums=_by_days(cells, set(rest), span)))
    return found


def _by_days(cells: Iterable[Cell], models: set[Value], span: Span) -> dict[Value, Sums]:
    rows = figures.by_days((cell for cell in cells if cell.model in models), span, span.unit)
    return {row.value: row.sums for row in rows}
