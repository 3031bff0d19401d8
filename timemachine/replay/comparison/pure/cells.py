"""One answer in a comparison, and the asks and model calls with all their answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from timemachine.core.pure.model_steps import ASK
from timemachine.core.pure.verdicts import NumbersChange
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.comparison.pure.variants import RECORDING
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES

NOISE: Final = 0
AGREEING: Final = ("identical", "formatting", "reworded", "same_action")
ERROR, REFUSED, NOT_ASKED, NOT_RECORDED = "error", "refused", "not asked", "not recorded"
SPEND_LIMIT, CANCELLED, FAILED = "spend limit", "cancelled", "failed"
LACKING: Final = (FAILED, SPEND_LIMIT, NOT_ASKED, CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One answer: the recorded one (`arm` 0), or that of a variant's run. `missing` is why the answer is missing.

    None means not recorded or unknown. `verdict` compares with the recorded answer, `in_words` is the same in words, and `numbers` what
    an answer with other numbers does besides. Money is US dollars:
    `cost_usd` is the cost of the answer, `spent_usd` that of all calls made for it, including failed ones;
    `unknown_cost_calls` counts those of unknown price. `called` is whether the recorded answer of a model call calls
    tools, None for an ask. `incomplete` means that the request was sent without parts that were not recorded.
    """

    arm: int
    repeat: int = 1
    step: int | None = None
    replay: UUID | None = None
    status: str = "done"
    verdict: str | None = None
    in_words: str | None = None
    numbers: NumbersChange | None = None
    missing: str | None = None
    refused: bool = False
    grounding: float | None = None
    label: str | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    tokens: int | None = None
    cached: bool = False
    cut_off: bool = False
    called: bool | None = None
    incomplete: bool = False
    spent_usd: float | None = None
    unknown_calls: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A recorded ask or model call with every answer: the recorded one, and those of the variants by variant and run.

    `action` is its row, and `label` the question of an ask or the name of a model call.
    """

    session: UUID
    session_name: str
    sequence: int
    action: int
    label: str
    recorded: Cell
    runs: Mapping[tuple[int, int], Cell] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the kind of the recorded step, `ask` or `llm_call`."""
        return ASK if self.recorded.called is None else MODEL_CALL

    def cells(self, arm: int) -> list[Cell]:
        """Return the answers of a variant by run, without the noise floor; for the recording, the one answer."""
        if arm == RECORDING:
            return [self.recorded]
        return [cell for (of, repeat), cell in sorted(self.runs.items()) if of == arm and repeat != NOISE]

    def noise(self, arm: int) -> list[Cell]:
        """Return the answer of the variant's noise floor run."""
        return [cell for (of, repeat), cell in self.runs.items() if of == arm and repeat == NOISE]

    @property
    def incomplete(self) -> bool:
        """Return whether a variant was sent less than was sent when the step was recorded."""
        return any(cell.incomplete for cell in self.runs.values())

    @property
    def answers(self) -> list[Cell]:
        """Return the recorded answer, then those of the variants by run."""
        return [self.recorded, *(cell for _, cell in sorted(self.runs.items()))]

    @property
    def changed(self) -> bool:
        """Return whether any variant's answer differs from the recorded one, byte for byte."""
        return any(cell.verdict not in {None, "identical"} for cell in self.runs.values())

    def has(self, verdict: str) -> bool:
        """Return whether any variant's answer has this verdict."""
        return any(cell.verdict == verdict for (_, repeat), cell in self.runs.items() if repeat != NOISE)

    @property
    def lacking(self) -> set[str]:
        """Return why finished variants have neither answer nor verdict: `spend limit`, `cancelled`, `failed`, `not asked`."""
        runs = [cell for (_, repeat), cell in self.runs.items() if repeat != NOISE]
        over = [cell for cell in runs if cell.status in TERMINAL_STEP_STATUSES and cell.verdict is None]
        return {FAILED if cell.missing == ERROR else cell.missing for cell in over if cell.missing}


def verdict_counts(cells: Sequence[Cell]) -> dict[str, int]:
    """Return how many answers have each verdict, the most frequent first."""
    return dict(Counter(cell.verdict for cell in cells if cell.verdict).most_common())


def missing_counts(cells: Sequence[Cell]) -> dict[str, int]:
    """Return how many answers are missing, by reason. A refusal counts as missing although it is a text."""
    reasons = [cell.missing or (REFUSED if cell.refused else None) for cell in cells]
    return dict(Counter(reason for reason in reasons if reason).most_common())
