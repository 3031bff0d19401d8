"""Running one step: verify the frozen context, search again, ask again, and compare with what was recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.knowledge.find import FrameHit
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import is_refused_by
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
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs import frozen, model_calls
from timemachine.replay.runs.estimate import expected_cost
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.outcomes import Outcome, cut_off, with_failure, without_answer
from timemachine.replay.runs.pure.context import VERIFIED, FrozenFrameOut, context_verdict
from timemachine.replay.runs.pure.engine import Intent, intent
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.retrieval import repeat_search
from timemachine.replay.runs.selection import recorded
from timemachine.replay.runs.spend_limit import LimitReached
from timemachine.replay.runs.trials import NamedPassage, named_passages
from timemachine.text.pure.difference.verdict import answer_verdict

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
    if step.kind == MODEL_CALL:
        return model_calls.run_call(step, reach, before_call, listening)
    work = _work(step, reach)
    outcome = Outcome(context=work.context, frames=work.frames)
    if work.intent.find_again or work.intent.choose:
        try:
            outcome = _with_passages(work, outcome)
        except TimeMachineError as failed:
            return with_failure(outcome, failed)
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
        return with_failure(outcome, failed)
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
    except (LimitReached, TimeMachineError) as why:
        return without_answer(outcome, why, model)
    stated = is_refused_by(work.action.parameters), is_refused_by(answered.parameters)
    compared = run_in_pool(answer_verdict, frozen.answer_of(work.action), answered.text, None, stated)
    evidence = {**compared.evidence, **_same_prompt(work, answered), **cut_off(work.action, answered)}
    return replace(
        outcome, answered=answered, verdict=compared.name, evidence=evidence, calls_made=answered.calls_made
    )


def _without_call(work: _Work, outcome: Outcome) -> Outcome:
    """Finish a step without calling a model. In an audit, the recorded answer is checked against its own context."""
    evidence = cut_off(work.action, None)
    if work.intent.why_not:
        evidence["not_asked"] = work.intent.why_not
    answer_text = frozen.answer_of(work.action) if work.action.kind == "ask" else None
    if work.options.audit and answer_text is not None and work.context == VERIFIED:
        evidence["grounding_checked_now"] = grounding_of(
            answer_text, frozen.passages_of(work.hits)
        ).model_dump()
    return replace(outcome, evidence=evidence or None)


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


def _expected_cost(
    work: _Work, model: ModelName, question: str, passages: Sequence[Passage]
) -> Decimal | None:
    """What the call may cost at most, as far as anybody can tell; None without a spend limit, which needs no estimate."""
    if work.options.spend_limit_usd is None:
        return None
    parameters = _parameters(work)
    prompt = prompt_of(question, passages, parameters)
    answer_text = frozen.answer_of(work.action)
    return expected_cost(
        model,
        work.action,
        characters=sum(len(message.content) for message in prompt.messages),
        same=(work.action.parameters or {}).get("prompt_sha256") == prompt.sha256,
        answer=None if answer_text is None else len(answer_text),
        max_tokens=parameters.max_tokens,
    )
