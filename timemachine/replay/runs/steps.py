"""Running one step: verify the frozen context, search again, ask again, and compare with what was recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Cancelled, ModelFailed, TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.knowledge.find import FrameHit
from timemachine.llm.prices import failed_price
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import cut_off_by, ended_by, is_refused
from timemachine.llm.queries import ModelLookup
from timemachine.recording.answering.model_asks import (
    Answered,
    CallParameters,
    answer,
    grounding_of,
    prompt_of,
)
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Action, Hit
from timemachine.replay.runs import frozen
from timemachine.replay.runs.estimate import expected_cost
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.plan import recorded
from timemachine.replay.runs.pure.context import VERIFIED, FrozenFrameOut, context_verdict
from timemachine.replay.runs.pure.engine import Intent, intent
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.retrieval import repeat_search
from timemachine.replay.runs.spend_limit import LimitReached
from timemachine.replay.runs.step_schemas import RetrievalCompared
from timemachine.replay.runs.trials import NamedPassage, named_passages
from timemachine.text.pure.difference.verdict import answer_verdict


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


SAME_PARAMETERS = ("system_prompt", "temperature", "seed", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A step with everything that was recorded for it."""

    step: ReplayStep
    action: Action
    options: ReplayOptions
    hits: Sequence[Hit]
    frames: Sequence[FrozenFrameOut]
    intent: Intent
    reach: ModelLookup

    @property
    def context(self) -> str:
        return context_verdict(self.frames)

    @property
    def question(self) -> str | None:
        return self.options.question or frozen.question_of(self.action)


def run_step(
    step: ReplayStep,
    reach: ModelLookup,
    before_call: Callable[[Decimal | None], None],
    listening: Listening | None = None,
) -> Outcome:
    """Run a step and return its outcome.

    `before_call` runs right before a model is called and may prevent the call by raising. Its argument is the
    expected cost, if there is a spend limit and the cost can be estimated. `listening` can end the call.
    """
    work = _work(step, reach)
    outcome = Outcome(context=work.context, frames=work.frames)
    if work.intent.find_again or work.intent.choose:
        try:
            outcome = _with_passages(work, outcome)
        except TimeMachineError as failed:
            return _failed(outcome, failed)
    if work.intent.call is None:
        return _without_call(work, outcome)
    return _call_model(work, outcome, before_call, listening)


def _work(step: ReplayStep, reach: ModelLookup) -> _Work:
    options = ReplayOptions(**step.replay.options)
    hits = frozen.hits_of(step.action)
    frames = [frozen.frame_of(hit) for hit in hits]
    decided = intent(recorded(step.action), options, context_verdict(frames), len(frames))
    return _Work(
        step=step,
        action=step.action,
        options=options,
        hits=hits,
        frames=frames,
        intent=decided,
        reach=reach,
    )


def _with_passages(work: _Work, outcome: Outcome) -> Outcome:
    if work.intent.choose:
        passages, retrieval = named_passages(work.action, work.hits, work.options)
        return replace(outcome, found=passages, retrieval=retrieval)
    findings, retrieval = repeat_search(work.action, work.hits, work.options)
    return replace(outcome, found=findings.hits, retrieval=retrieval)


def _call_model(
    work: _Work,
    outcome: Outcome,
    before_call: Callable[[Decimal | None], None],
    listening: Listening | None,
) -> Outcome:
    question = work.question
    if question is None:
        return replace(outcome, evidence={"not_asked": "The question was not recorded as text."})
    passages = _passages(work, outcome.found)
    try:
        model, connection = work.reach.model(work.intent.call or "")
    except TimeMachineError as failed:
        return _failed(outcome, failed)
    try:
        if model.provider != LOCAL:
            before_call(_expected_cost(work, model, question, passages))
        answered = answer(
            work.step.replay.project_id,
            model,
            question,
            passages,
            _parameters(work),
            listening,
            connection,
        )
    except LimitReached as why:
        return replace(outcome, status="skipped", evidence={"not_asked": str(why)})
    except TimeMachineError as failed:
        cost = failed_price(model, failed, now()).cost_usd
        ended = replace(_failed(outcome, failed), failed_cost_usd=cost)
        if isinstance(failed, Cancelled):  # its message says whether the call may have been billed
            return replace(ended, status="cancelled", verdict=None, evidence=None)
        return ended
    stated = _refused(work.action.parameters), _refused(answered.parameters)
    compared = run_in_pool(answer_verdict, frozen.answer_of(work.action), answered.text, None, stated)
    evidence = {**compared.evidence, **_same_prompt(work, answered), **_cut_off(work, answered)}
    return replace(
        outcome, answered=answered, verdict=compared.name, evidence=evidence, calls_made=answered.calls_made
    )


def _without_call(work: _Work, outcome: Outcome) -> Outcome:
    """Finish a step without calling a model. In an audit, the recorded answer is checked against its own context."""
    evidence = _cut_off(work, None)
    if work.intent.why_not:
        evidence["not_asked"] = work.intent.why_not
    answer_text = frozen.answer_of(work.action) if work.action.kind == "ask" else None
    if work.options.audit and answer_text is not None and work.context == VERIFIED:
        evidence["grounding_checked_now"] = grounding_of(
            answer_text, frozen.passages_of(work.hits)
        ).model_dump()
    return replace(outcome, evidence=evidence or None)


def _failed(outcome: Outcome, failed: TimeMachineError) -> Outcome:
    sent = isinstance(failed, ModelFailed) and not failed.facts.get("unsent")
    calls = int(failed.facts.get("attempts", 0)) if sent else 0
    return replace(
        outcome,
        status="failed",
        verdict="error",
        error_type=failed.code,
        error_message=failed.message,
        evidence={"error": failed.message},
        calls_made=calls,
    )


def _passages(work: _Work, found: Sequence[FrameHit | NamedPassage]) -> list[Passage]:
    if not work.intent.find_again and not work.intent.choose:
        return frozen.passages_of(work.hits)
    return [Passage(frame=hit.frame, title=hit.title, text=hit.text) for hit in found]


def _parameters(work: _Work) -> CallParameters:
    kept = work.action.parameters or {}
    given = {name: getattr(work.options, name) for name in SAME_PARAMETERS}
    return CallParameters(
        **{name: kept.get(name) if value is None else value for name, value in given.items()},
        prompt_template=work.options.prompt_template,
    )


def _same_prompt(work: _Work, answered: Answered) -> dict[str, bool]:
    """Return whether exactly the recorded prompt was sent again, if its hash was recorded."""
    before = (work.action.parameters or {}).get("prompt_sha256")
    after = answered.parameters.get("prompt_sha256")
    return {"same_prompt": before == after} if before and after else {}


def _refused(parameters: object) -> bool:
    """Return whether the provider marked the answer as a refusal."""
    return bool(is_refused(ended_by(parameters)))


def _cut_off(work: _Work, answered: Answered | None) -> JsonObject:
    """Return which of the two answers is cut off: the verdict then does not compare complete answers."""
    sides = {"recorded": work.action.parameters, "new": answered.parameters if answered else None}
    found = [side for side, parameters in sides.items() if cut_off_by(parameters)]
    return {"cut_off": found} if found else {}


def _expected_cost(
    work: _Work, model: ModelName, question: str, passages: Sequence[Passage]
) -> Decimal | None:
    """What the call may cost at most, as far as anybody can tell; None without a spend limit, which needs no estimate."""
    if work.options.spend_limit_usd is None:
        return None
    parameters = _parameters(work)
    prompt = prompt_of(question, passages, parameters)
    return expected_cost(model, work.action, prompt, max_tokens=parameters.max_tokens)
