"""Working on a replay: step after step is claimed, done and written, each under its lease."""

from typing import Any
from uuid import UUID

from django.db import transaction

from timemachine.base.clock import now
from timemachine.base.content import content_of
from timemachine.base.errors import TimeMachineError
from timemachine.payloads.commands import keep
from timemachine.replay import commands, leases, steps
from timemachine.replay.leases import Lease, LeaseLost
from timemachine.replay.models import ReplayAttempt, ReplayHit, ReplayStep
from timemachine.replay.outcome import Outcome
from timemachine.retrieval.finding import Found

USAGE = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def work(replay_id: UUID, worker: str) -> int:
    """Do the steps of a replay until none is left to claim; returns how many this worker wrote.

    Safe to run twice, at the same time, and to be killed at any point: a step is written once, under its lease.
    """
    if not commands.begin(replay_id):
        return 0
    written = 0
    while (lease := leases.claim(replay_id, worker)) is not None:
        written += _do(lease)
    commands.finish_if_over(replay_id)
    return written


def _do(lease: Lease) -> int:
    step = ReplayStep.objects.select_related(
        "replay", "action__session__collection", "action__input", "action__output"
    ).get(id=lease.step_id)
    try:
        with leases.kept(lease):
            outcome = _outcome(step, lease)
        write(lease, outcome)
    except LeaseLost:
        return 0
    return 1


def _outcome(step: ReplayStep, lease: Lease) -> Outcome:
    try:
        return steps.do(step, before_call=lambda: leases.intend_call(lease))
    except TimeMachineError as failed:
        return Outcome(status="failed", verdict="error", error_type=failed.code, error_message=failed.message)


def write(lease: Lease, outcome: Outcome) -> None:
    """Write what a step came to, if the lease still holds; what was called is accounted for either way."""
    _account(lease, outcome)
    with transaction.atomic():
        step = leases.owned(lease)
        for name, value in _columns(outcome).items():
            setattr(step, name, value)
        step.output_id = _kept(step, outcome)
        step.lease_token = step.lease_until = None
        step.finished_at = now()
        step.save()
        _write_hits(step, outcome)
        commands.bump(step.replay_id)
        ReplayAttempt.objects.filter(id=lease.attempt_id).update(
            outcome="failed" if outcome.status == "failed" else "done", error_message=outcome.error_message
        )


def _account(lease: Lease, outcome: Outcome) -> None:
    """The attempt's own row: calls and cost stand even where a slept-over lease keeps the result out."""
    answered = outcome.answered
    cost = answered.cost_usd if answered else outcome.failed_cost_usd
    ReplayAttempt.objects.filter(id=lease.attempt_id).update(
        finished_at=now(), calls_made=outcome.calls_made, cost_usd=cost
    )


def _columns(outcome: Outcome) -> dict[str, Any]:
    answered = outcome.answered
    columns: dict[str, Any] = {
        "status": outcome.status,
        "context": outcome.context,
        "frames": outcome.frames,
        "retrieval": outcome.retrieval,
        "verdict": outcome.verdict,
        "evidence": outcome.evidence,
        "error_type": outcome.error_type,
        "error_message": outcome.error_message,
    }
    if answered is None:
        return columns
    usage = answered.usage
    return columns | {
        "model": answered.model,
        "parameters": answered.parameters,
        "duration_ms": answered.duration_ms,
        "cost_usd": answered.cost_usd,
        "prices": answered.prices,
        "grounding": answered.grounding,
        **{name: getattr(usage, name) if usage else None for name in USAGE},
    }


def _kept(step: ReplayStep, outcome: Outcome) -> int | None:
    if outcome.answered is None:
        return None
    content = content_of(outcome.answered.text)
    return keep(step.replay.project_id, [content])[content]


def _write_hits(step: ReplayStep, outcome: Outcome) -> None:
    step.hits.all().delete()
    contents = {hit.rank: content_of(hit.text) for hit in outcome.found}
    kept = keep(step.replay.project_id, contents.values())
    ReplayHit.objects.bulk_create(_hit(step, hit, kept[contents[hit.rank]]) for hit in outcome.found)


def _hit(step: ReplayStep, hit: Found, payload_id: int) -> ReplayHit:
    return ReplayHit(
        step=step,
        rank=hit.rank,
        score=hit.score,
        scores=hit.scores,
        matched=hit.matched.as_json(),
        frame=hit.frame,
        version=hit.version,
        title=hit.title,
        uri=hit.uri,
        metadata=hit.metadata,
        sha256=hit.sha256,
        payload_id=payload_id,
        stored_frame_id=hit.stored_frame,
    )
