"""What a step came to, before it is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from timemachine.knowledge.find import Found
from timemachine.recording.answering.model_asks import Answered
from timemachine.replay.runs.trial_passages import Chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one step: the context's verdict, what retrieval found now, what was answered now, and the verdicts.

    `status` is `done`, `failed` or `cancelled` (with its error), or `skipped`. None means that part was not done. `failed_cost_usd` is what a failed
    call cost, None where that is unknown.
    """

    status: str = "done"
    context: str | None = None
    frames: list[dict[str, Any]] | None = None
    found: Sequence[Found | Chosen] = ()
    retrieval: dict[str, Any] | None = None
    answered: Answered | None = None
    verdict: str | None = None
    evidence: dict[str, Any] | None = None
    error_type: str | None = None
    error_message: str | None = None
    calls_made: int = 0
    failed_cost_usd: Decimal | None = None
