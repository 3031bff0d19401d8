"""The findings of a comparison: every column, every pair of columns, and each variant against itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from timemachine.replay.comparison.pure.cells import Ask
from timemachine.replay.comparison.pure.metrics import (
    VariantPair,
    VariantTotals,
    column,
    column_totals,
    compare_columns,
    latency_differs,
    noise_of,
    without_latency,
)
from timemachine.replay.comparison.pure.variants import RECORDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The asks with their answers; a column for the recording and for each variant; every pair of columns; and the noise floor.

    Latencies get a verdict only if no variant's noise floor shows a difference. `ordered` has each pair in
    both directions, because either column can be the baseline.
    """

    asks: Sequence[Ask]
    columns: Sequence[VariantTotals]
    ordered: Sequence[VariantPair]
    noise: Sequence[VariantPair]

    @property
    def pairs(self) -> list[VariantPair]:
        """Return each pair of columns once, the lower number first."""
        return [each for each in self.ordered if each.a < each.b]

    def against(self, column: int) -> list[VariantPair]:
        """Return the other columns, each compared with this one (0: the recording)."""
        return [each for each in self.ordered if each.a == column]


def findings(asks: Sequence[Ask], arms: int, *, noise_floor: bool) -> Findings:
    """Compute the findings of this many variants over these asks."""
    columns = [column(asks, each) for each in range(RECORDING, arms + 1)]
    noise = [noise_of(asks, each.arm) for each in columns if each.arm != RECORDING] if noise_floor else []
    ordered = [compare_columns(a, b) for a, b in permutations(columns, 2)]
    return Findings(
        asks=asks,
        columns=[column_totals(asks, each) for each in columns],
        ordered=without_latency(ordered) if any(map(latency_differs, noise)) else ordered,
        noise=noise,
    )
