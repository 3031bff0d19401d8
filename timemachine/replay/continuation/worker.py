"""Working on a continuation: one model call after the other, each an attempt at the only step of the replay.

Before a call its attempt is stored with the intent, and afterwards the call and the results of its tool calls are
written to the branch in one transaction. A worker can be killed at any point: the next one reads the branch and goes
on. A call that was intended but not written is made again, and both the replay and the branch say that it may have
been billed.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from timemachine.core.leases import LeaseLost, briefly, clear
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.concurrency import release_connection
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import cut_off_by, is_refused_by
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.queries import ModelLookup
from timemachine.recording.answering.model_asks import Answered
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.locks import lock_against_erasure
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation.branches import (
    SentMessage,
    Turn,
    call_draft,
    copied_drafts,
    first_call_of,
    next_request,
    recorded_messages,
    request_body,
    turns_of,
    with_ids,
)
from timemachine.replay.continuation.plan import why_not_sent
from timemachine.replay.continuation.pure.answering import Record, are_open_too, unanswered
from timemachine.replay.continuation.run import Run
from timemachine.replay.runs import claimed_steps, commands, leases
from timemachine.replay.runs.cancellation import watch_for_cancellation
from timemachine.replay.runs.frozen import model_answer_of
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.model_calls import cost_of_sending, request_evidence, send, why_refused
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.outcomes import Outcome, with_failure, without_answer
from timemachine.replay.runs.pure.actions import action_verdict
from timemachine.replay.runs.pure.endings import Why
from timemachine.replay.runs.pure.options import CONTINUE
from timemachine.replay.runs.spend_limit import LimitReached
from timemachine.replay.runs.step_results import USAGE

PAUSE: Final = 0.1
PATIENCE: Final = 5.0
"""Seconds of the first wait for a free slot at the provider, and in total. After that, the sweep enqueues it again."""
_OF_FIRST_CALL: Final = ("output_id", "model", "parameters", "duration_ms", "cost_usd", "prices", *USAGE)


def is_continuation(replay_id: UUID) -> bool:
    """Return whether the replay is a continuation."""
    return Replay.objects.filter(id=replay_id, kind=CONTINUE).exists()


def work(replay_id: UUID, worker: str) -> int:
    """Make the calls of a continuation until it stops, and return how many turns this worker wrote.

    It is safe to run this twice, at the same time, and to kill it at any point.
    """
    if not commands.begin(replay_id):
        return 0
    replay = Replay.objects.select_related("session", "branch").get(id=replay_id)
    calls = replay.steps.filter(provider__isnull=False).exists()
    run = Run(replay=replay)
    written = 0
    with leases.keeper() as keeper, watch_for_cancellation(replay_id):
        while (lease := _claimed(replay_id, worker, calls=calls)) is not None:
            with keeper.keeping(lease.token), suppress(LeaseLost):
                written += _take_turn(run, lease)
    with suppress(Replay.DoesNotExist):  # erased in the meantime
        commands.finish_if_done(replay_id)
    return written


def _claimed(replay_id: UUID, worker: str, *, calls: bool) -> StepLease | None:
    """Claim the step, waiting for a free slot of its provider; None if it cannot be claimed."""
    pause, until = PAUSE, time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = leases.claim(replay_id, worker, calls=calls)
        if found:
            return found[0]
        if not leases.open_steps(replay_id, calls=calls):
            return None
        release_connection()
        time.sleep(pause)
        pause *= 1.5
    return None


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One turn while it is taken: the request that is sent, and the answer."""

    run: Run
    turns: list[Turn] = field(default_factory=list)
    evidence: JsonObject = field(default_factory=dict)
    context: str | None = None
    started_at: datetime = field(default_factory=now)
    request: JsonObject = field(default_factory=dict)
    new: Answer | None = None
    stopped: tuple[Why, str | None] | None = None

    def take(
        self,
        step: ReplayStep,
        reach: ModelLookup,
        before_call: Callable[[Decimal | None], None],
        listening: Listening | None = None,
    ) -> Outcome:
        """Send the next request, unless there is a reason not to. Arguments as of `steps.run_step`."""
        options, action = self.run.options, step.action
        self.turns = turns_of(self.run.branch, ModelName.of(options.use_model or ""))
        self.run.read(action)
        if len(self.turns) >= self.run.most_calls:
            self.stopped = "call_limit", None
            return Outcome()
        frozen, base = self.run.first_request(action)
        self.context = frozen.verdict
        self.evidence |= request_evidence(frozen, base)
        model, connection = reach.model(options.use_model or "")
        request = next_request(base, self.turns)
        why_not = why_not_sent(action, options, frozen) or why_refused(request, model)
        if why_not is not None:
            self.stopped = "not_sent", why_not
            return Outcome()
        try:
            if model.provider != LOCAL:
                before_call(cost_of_sending(action, options, model, request, same=False))
            self.started_at = now()
            answered, self.new = send(request, model, connection, options, listening)
            self.request = request_body(request, answered.parameters, model, connection)
        except LimitReached as why:
            self.stopped = "spend_limit", str(why)
            return Outcome()
        except TimeMachineError as why:
            return without_answer(Outcome(), why, model)
        return Outcome(answered=answered, calls_made=answered.calls_made)


def _take_turn(run: Run, lease: StepLease) -> int:
    """Make one call and write it. Return 1, or 0 if the step was erased in the meantime. Raises: `LeaseLost`."""
    step = claimed_steps.load(run.replay, [lease.pk]).get(lease.pk)
    if step is None:
        return 0
    attempt = _Attempt(run=run)
    outcome = claimed_steps.outcome_of(step, lease, ModelLookup(run.replay.project_id), run=attempt.take)
    claimed_steps.renew_connection()
    try:
        _write(attempt, step, lease, outcome)
    except LeaseLost:
        _account(lease, outcome, written=False)
        raise
    except TimeMachineError as why:  # the answer is too long to be recorded, or the branch was deleted
        _write(attempt, step, lease, _lost_answer(outcome, why))
    return 1


def _lost_answer(outcome: Outcome, why: TimeMachineError) -> Outcome:
    """Return the outcome of a call whose answer cannot be recorded. Calling the model again would not help."""
    cost = outcome.answered.cost_usd if outcome.answered else outcome.failed_cost_usd
    failed = with_failure(replace(outcome, answered=None), why)
    return replace(failed, calls_made=outcome.calls_made, failed_cost_usd=cost)


def _write(attempt: _Attempt, step: ReplayStep, lease: StepLease, outcome: Outcome) -> None:
    """Write the turn to the branch, account for the call, and end the step or give it back for the next call."""
    run, action = attempt.run, step.action
    branch_id = run.replay.branch_id
    with briefly():
        lock_against_erasure([action.session_id, *([] if branch_id is None else [branch_id])])
        commands.bump(lease.replay_id)
        lease.locked()
        ending: JsonObject | None = None
        if outcome.answered is not None and attempt.new is not None and outcome.status == "done":
            ending = _record_turn(attempt, step, outcome.answered, attempt.new)
        elif attempt.stopped is not None:
            why, detail = attempt.stopped
            ending = _ending(attempt, action, why, attempt.turns, detail=detail)
        elif outcome.status == "failed":
            ending = _ending(attempt, action, "failed", attempt.turns, detail=outcome.error_message)
        _account(lease, outcome, written=True)
        if ending is None and outcome.status == "done":
            clear(lease.held(), status="waiting", attempts_made=0)
        else:
            lease.release(**_ended(attempt, step, outcome, ending))


def _record_turn(attempt: _Attempt, step: ReplayStep, answered: Answered, new: Answer) -> JsonObject | None:
    """Append the call and the results that the record has. Return how the run ended, None if it goes on."""
    run, action, number = attempt.run, step.action, len(attempt.turns) + 1
    parts = with_ids(new.parts, number)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    record = run.record(action, attempt.turns)
    found = {call.id: record.answer(call) for call in calls}
    drafts: list[ActionDraft] = [
        call_draft(
            number,
            answered,
            attempt.request,
            action,
            started_at=attempt.started_at,
            maybe_billed=_lost_since_last_turn(step),
        )
    ]
    for place, call in enumerate(calls, start=1):
        result = found[call.id]
        drafts += [] if result is None else copied_drafts(action.session, number, place, call, result)
    missing = [call for call in calls if found[call.id] is None]
    why, detail = _why_it_ends(run, record, calls, missing, answered)
    sent: tuple[SentMessage, ...] = ()
    if why is None or (why == "finished" and not missing):
        user, why_not = run.user_reaction(action, record, new, attempt.turns)
        if user is not None:
            sent = tuple(SentMessage(parts=each.parts, step=each.sequence) for each in user.messages)
            drafts += recorded_messages(action.session, number, user)
            why, detail = None, None
        elif why_not is not None and why is not None:
            why, detail = "user_message", why_not
    if why is None and number >= run.most_calls:
        why = "call_limit"
    sequences = append(run.branch.id, drafts, imported=True)
    if why is None:
        return None
    copied = frozenset(call_id for call_id, result in found.items() if result is not None)
    turn = Turn(number=number, sequence=sequences[0], parts=parts, results={}, copied=copied, sent=sent)
    waiting = missing if why == "diverged" else []
    described = [unanswered(call, record.nearest(call)) for call in waiting]
    turns = [*attempt.turns, turn]
    return _ending(attempt, action, why, turns, detail=detail, record=record, described=described)


def _why_it_ends(
    run: Run,
    record: Record,
    calls: Sequence[ToolCall],
    missing: Sequence[ToolCall],
    answered: Answered,
) -> tuple[Why | None, str | None]:
    """Return why the run ends after this answer, None if it goes on, and more about it."""
    if not record.remaining and are_open_too(missing, run.open_calls):
        return "finished", "the recording ends with the same call and without its result"
    if missing:
        return "diverged", None
    if not calls:
        return "cut_off" if cut_off_by(answered.parameters) else "finished", None
    return None, None


def _lost_since_last_turn(step: ReplayStep) -> int:
    """Return how many attempts at this call were lost after their intent was stored."""
    attempts = step.attempts.order_by("number").values_list("outcome", "call_intended_at")
    lost = 0
    for outcome, intended_at in attempts:
        if outcome == "done":
            lost = 0
        elif outcome == "lost" and intended_at is not None:
            lost += 1
    return lost


def _ending(
    attempt: _Attempt,
    action: Action,
    why: Why,
    turns: list[Turn],
    *,
    detail: str | None = None,
    record: Record | None = None,
    described: list[JsonObject] | None = None,
) -> JsonObject:
    run = attempt.run
    if run.followed is not None:
        record = record or run.record(action, turns)
    user = run.next_user_turn(turns)
    return {
        "why": why,
        "calls": len(turns),
        "recorded_calls": run.recorded_calls,
        "recorded_results": sum(len(turn.copied) for turn in turns),
        "supplied_results": sum(len(turn.results.keys() - turn.copied) for turn in turns),
        "unused_results": None if record is None else record.remaining,
        "recorded_messages": sum(each.step is not None for turn in turns for each in turn.sent),
        "supplied_messages": sum(each.step is None for turn in turns for each in turn.sent),
        "next_message": user.step if why == "user_message" and user is not None else None,
        "step": turns[-1].sequence if turns else None,
        "detail": detail,
        "unanswered": described or [],
    }


def _account(lease: StepLease, outcome: Outcome, *, written: bool) -> None:
    """Update the attempt: the call and its cost are stored even if the lease is lost and the turn is not written."""
    answered = outcome.answered
    changes: dict[str, Any] = {
        "finished_at": now(),
        "calls_made": outcome.calls_made,
        "cost_usd": answered.cost_usd if answered else outcome.failed_cost_usd,
    }
    if written:
        status = outcome.status if outcome.status in ("failed", "cancelled") else "done"
        changes |= {"outcome": status, "error_message": outcome.error_message}
    ReplayAttempt.objects.filter(id=lease.attempt_id).update(**changes)


def _ended(
    attempt: _Attempt, step: ReplayStep, outcome: Outcome, ending: JsonObject | None
) -> dict[str, Any]:
    """Return the columns of the finished step: the first answer with its verdict, and how the run ended."""
    first = first_call_of(attempt.run.branch) if attempt.run.replay.branch_id is not None else None
    verdict, evidence = _compared(step.action, first)
    if outcome.status == "failed" and first is None:
        verdict = "error"
    stopped = attempt.stopped
    if stopped is not None and first is None:
        evidence["not_asked"] = stopped[1]
    status = "skipped" if first is None and stopped and stopped[0] == "spend_limit" else outcome.status
    return {
        "status": status,
        "context": attempt.context,
        "frames": [],
        "verdict": verdict,
        "evidence": {
            **attempt.evidence,
            **evidence,
            "branch": attempt.run.replay.branch_id and str(attempt.run.replay.branch_id),
            **({"ending": ending} if ending else {}),
        },
        "error_type": outcome.error_type,
        "error_message": outcome.error_message,
        "finished_at": now(),
        "asked_again_at": None,
        "waits_because": None,
        **({} if first is None else {name: getattr(first, name) for name in _OF_FIRST_CALL}),
    }


def _compared(action: Action, first: Action | None) -> tuple[str | None, JsonObject]:
    """Compare the first answer with what was recorded."""
    before = model_answer_of(action)
    new = None if first is None else read_answer(value(first.output))
    if first is None or before is None or new is None:
        return None, {}
    stated = is_refused_by(action.parameters), is_refused_by(first.parameters)
    found = action_verdict(before, new, stated)
    return found.name, dict(found.evidence)
