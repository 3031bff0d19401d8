"""The outcome of a step before it is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Cancelled, ModelFailed, TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.knowledge.find import FrameHit
from timemachine.llm.prices import failed_price
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import cut_off_by
from timemachine.recording.answering.model_asks import Answered
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.pure.context import FrozenFrameOut
from timemachine.replay.runs.spend_limit import LimitReached
from timemachine.replay.runs.step_schemas import RetrievalCompared
from timemachine.replay.runs.trials import NamedPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one step before it is written: the context's verdict, the passages found, the new answer and its verdict.

    `status` is `done`, `failed`, `cancelled` or `skipped`. None means that this part was not done.
    `failed_cost_usd` is the cost of a failed call, None if that is unknown.
    """

    status: str = "done"
    context: str | None = None
    frames: Sequence[FrozenFrameOut] | None = None
    found: Sequence[FrameHit | NamedPassage] = ()
    retrieval: RetrievalCompared | None = None
    answered: Answered | None = None
    verdict: str | None = None
    evidence: JsonObject | None = None
    error_type: str | None = None
    error_message: str | None = None
    calls_made: int = 0
    failed_cost_usd: Decimal | None = None


def with_failure(outcome: Outcome, failed: TimeMachineError) -> Outcome:
    """Return the outcome of a step that failed."""
    sent = isinstance(failed, ModelFailed) and not failed.facts.get("unsent")
    calls = int(failed.facts.get("attempts", 0)) if sent else 0
    return replace(
        outcome,
        status="failed",
        verdict="error",
        error_type=failed.code,
        error_message=failed.message,
        evidence={**(outcome.evidence or {}), "error": failed.message},
        calls_made=calls,
    )


def without_answer(outcome: Outcome, why: LimitReached | TimeMachineError, model: ModelName) -> Outcome:
    """Return the outcome of a step whose model was not called because of the spend limit, or gave no answer."""
    evidence = outcome.evidence or {}
    if isinstance(why, LimitReached):
        return replace(outcome, status="skipped", evidence={**evidence, "not_asked": str(why)})
    ended = replace(with_failure(outcome, why), failed_cost_usd=failed_price(model, why, now()).cost_usd)
    if isinstance(why, Cancelled):  # its message says whether the call may have been billed
        return replace(ended, status="cancelled", verdict=None, evidence=outcome.evidence)
    return ended


def cut_off(action: Action, answered: Answered | None) -> JsonObject:
    """Return which of the two answers is cut off: the verdict then does not compare complete answers."""
    sides = {"recorded": action.parameters, "new": answered.parameters if answered else None}
    found = [side for side, parameters in sides.items() if cut_off_by(parameters)]
    return {"cut_off": found} if found else {}
