"""What a comparison shows as a whole: every column, every two of them, and each arm against itself. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from timemachine.comparison.arms import RECORDING
from timemachine.comparison.cells import Ask
from timemachine.comparison.metrics import ArmPair, ArmTotals, arm_pair, arm_totals, column, noise_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The asks with their answers; the recording's column and one for each arm; what each two columns show, and chance alone."""

    asks: Sequence[Ask]
    columns: Sequence[ArmTotals]
    pairs: Sequence[ArmPair]
    noise: Sequence[ArmPair]


def findings(asks: Sequence[Ask], arms: int, *, noise_floor: bool, against: int | None = None) -> Findings:
    """What so many arms come to over these asks; `against` takes only the pairs of that column (0: the recording)."""
    columns = [column(asks, each) for each in range(RECORDING, arms + 1)]
    pairs = [pair for pair in combinations(range(arms + 1), 2) if against is None or against in pair]
    ordered = [(against, b if a == against else a) if against is not None else (a, b) for a, b in pairs]
    return Findings(
        asks=asks,
        columns=[arm_totals(asks, each) for each in columns],
        pairs=[arm_pair(columns[a], columns[b]) for a, b in ordered],
        noise=[noise_of(asks, each.arm) for each in columns if each.arm != RECORDING] if noise_floor else [],
    )
