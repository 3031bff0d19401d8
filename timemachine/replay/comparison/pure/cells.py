"""One answer in a comparison, and the asks with their answers side by side. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from timemachine.replay.comparison.pure.variants import RECORDING
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES

NOISE: Final = 0
AGREEING: Final = ("identical", "formatting", "reworded")
ERROR, REFUSED, NOT_ASKED, NOT_RECORDED = "error", "refused", "not asked", "not recorded"
SPEND_LIMIT, CANCELLED, FAILED = "spend limit", "cancelled", "failed"
LACKING: Final = (FAILED, SPEND_LIMIT, NOT_ASKED, CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One answer: the recorded one (`arm` 0), or that of an arm's run. `missing` says why there is none.

    None is what nobody recorded or what is unknown. `verdict` is against the recorded answer. Money in US dollars: `cost_usd` is that of
    the answer, `spent_usd` of all calls that were made for it, failed ones as well, beside the number of those whose price is unknown.
    """

    arm: int
    repeat: int = 1
    step: int | None = None
    replay: UUID | None = None
    status: str = "done"
    verdict: str | None = None
    missing: str | None = None
    refused: bool = False
    grounding: float | None = None
    label: str | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    tokens: int | None = None
    cached: bool = False
    cut_off: bool = False
    spent_usd: float | None = None
    unknown_calls: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A recorded question with every answer to it: the recorded one, and those of the arms by arm and run. `action` is the ask's row."""

    session: UUID
    session_name: str
    sequence: int
    action: int
    question: str
    recorded: Cell
    runs: Mapping[tuple[int, int], Cell] = field(default_factory=dict)

    def cells(self, arm: int) -> list[Cell]:
        """The answers of an arm, run by run, without that of the noise floor; of the recording the one that there is."""
        if arm == RECORDING:
            return [self.recorded]
        return [cell for (of, repeat), cell in sorted(self.runs.items()) if of == arm and repeat != NOISE]

    def noise(self, arm: int) -> list[Cell]:
        """The answer of the arm's run against itself."""
        return [cell for (of, repeat), cell in self.runs.items() if of == arm and repeat == NOISE]

    @property
    def answers(self) -> list[Cell]:
        """The recorded answer, then those of the arms, run by run."""
        return [self.recorded, *(cell for _, cell in sorted(self.runs.items()))]

    @property
    def changed(self) -> bool:
        """Whether any arm's answer is other than the recorded one, byte for byte."""
        return any(cell.verdict not in {None, "identical"} for cell in self.runs.values())

    def has(self, verdict: str) -> bool:
        """Whether any arm's answer has this verdict."""
        return any(cell.verdict == verdict for (_, repeat), cell in self.runs.items() if repeat != NOISE)

    @property
    def lacking(self) -> set[str]:
        """Why an arm that is through with it has neither answer nor verdict: `spend limit`, `cancelled`, `failed`, `not asked`."""
        runs = [cell for (_, repeat), cell in self.runs.items() if repeat != NOISE]
        over = [cell for cell in runs if cell.status in TERMINAL_STEP_STATUSES and cell.verdict is None]
        return {FAILED if cell.missing == ERROR else cell.missing for cell in over if cell.missing}


def verdict_counts(cells: Sequence[Cell]) -> dict[str, int]:
    """How many of the answers have each verdict, the most frequent first."""
    return dict(Counter(cell.verdict for cell in cells if cell.verdict).most_common())


def missing_counts(cells: Sequence[Cell]) -> dict[str, int]:
    """How many of the answers are not there, by the reason; a refusal is one, although it is a text."""
    reasons = [cell.missing or (REFUSED if cell.refused else None) for cell in cells]
    return dict(Counter(reason for reason in reasons if reason).most_common())
