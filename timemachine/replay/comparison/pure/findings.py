"""What a comparison shows as a whole: every column, every two of them, and each arm against itself. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from timemachine.replay.comparison.pure.cells import Ask
from timemachine.replay.comparison.pure.metrics import (
    ArmPair,
    ArmTotals,
    arm_pair,
    arm_totals,
    column,
    latency_differs,
    noise_of,
    without_latency,
)
from timemachine.replay.comparison.pure.variants import RECORDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The asks with their answers; the recording's column and one for each arm; what each two columns show, and chance alone.

    Latencies are told apart only where no arm's differs from its own, asked once more beside the others.
    `ordered` has each two columns both ways round, for either can be set against the other.
    """

    asks: Sequence[Ask]
    columns: Sequence[ArmTotals]
    ordered: Sequence[ArmPair]
    noise: Sequence[ArmPair]

    @property
    def pairs(self) -> list[ArmPair]:
        """Each two columns once, the lower number first."""
        return [each for each in self.ordered if each.a < each.b]

    def against(self, column: int) -> list[ArmPair]:
        """The others, each set against this column (0: the recording)."""
        return [each for each in self.ordered if each.a == column]


def findings(asks: Sequence[Ask], arms: int, *, noise_floor: bool) -> Findings:
    """What so many arms come to over these asks."""
    columns = [column(asks, each) for each in range(RECORDING, arms + 1)]
    noise = [noise_of(asks, each.arm) for each in columns if each.arm != RECORDING] if noise_floor else []
    ordered = [arm_pair(a, b) for a, b in permutations(columns, 2)]
    return Findings(
        asks=asks,
        columns=[arm_totals(asks, each) for each in columns],
        ordered=without_latency(ordered) if any(map(latency_differs, noise)) else ordered,
        noise=noise,
    )
