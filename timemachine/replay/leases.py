"""Who works on a step, and until when. A worker that slept past its lease cannot write: every write carries its token."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connections, transaction
from django.db.models import Q

from timemachine.base.clock import now
from timemachine.base.heartbeat import heartbeat
from timemachine.replay.models import Replay, ReplayAttempt, ReplayStep

MOST_ATTEMPTS = 3


class LeaseLost(Exception):
    """Another worker has the step now; what this one found is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write one step, once."""

    step_id: int
    replay_id: UUID
    attempt_id: int
    token: UUID


def claim(replay_id: UUID, worker: str) -> Lease | None:
    """The next step that waits or whose worker was lost, leased to this worker; None where there is none.

    An attempt that ended without an outcome is marked `lost`; after `MOST_ATTEMPTS` lost ones the step fails.
    """
    while True:
        with transaction.atomic():
            step = _next(replay_id)
            if step is None:
                return None
            step.attempts.filter(outcome=None).update(outcome="lost", finished_at=now())
            if step.attempts_made < MOST_ATTEMPTS:
                return _lease(step, worker)
            _give_up(step)


def kept(lease: Lease) -> AbstractContextManager[None]:
    """Keep the lease alive while the block runs: a call of a model may take minutes."""
    held = ReplayStep.objects.filter(id=lease.step_id, lease_token=lease.token, status="running")
    return heartbeat(
        lambda: held.update(lease_until=_until()),
        every=settings.LEASE_SECONDS / 4,
        at_end=connections.close_all,  # those of its own thread
    )


def intend_call(lease: Lease) -> None:
    """Write down that a model is about to be called. Raises `LeaseLost`: then it must not be."""
    with transaction.atomic():
        owned(lease)
        ReplayAttempt.objects.filter(id=lease.attempt_id).update(call_intended_at=now())


def owned(lease: Lease) -> ReplayStep:
    """The step, locked, if the lease still holds. Raises `LeaseLost`. Call it inside a transaction."""
    step = ReplayStep.objects.select_for_update().filter(id=lease.step_id, lease_token=lease.token).first()
    if step is None or step.status != "running":
        raise LeaseLost
    return step


def _next(replay_id: UUID) -> ReplayStep | None:
    open_ = Q(status__in=("waiting", "uncertain")) | Q(status="running", lease_until__lt=now())
    steps = ReplayStep.objects.select_for_update(skip_locked=True).filter(open_, replay_id=replay_id)
    cancelled = Replay.objects.filter(id=replay_id, cancel_requested_at__isnull=False).exists()
    return None if cancelled else steps.order_by("sequence").first()


def _lease(step: ReplayStep, worker: str) -> Lease:
    token = uuid4()
    step.status = "running"
    step.attempts_made += 1
    step.lease_token = token
    step.lease_until = _until()
    step.started_at = step.started_at or now()
    step.save(update_fields=["status", "attempts_made", "lease_token", "lease_until", "started_at"])
    attempt = ReplayAttempt.objects.create(
        step=step, number=step.attempts.count() + 1, lease_token=token, worker=worker, started_at=now()
    )
    return Lease(step_id=step.id, replay_id=step.replay_id, attempt_id=attempt.id, token=token)


def _give_up(step: ReplayStep) -> None:
    step.status = "failed"
    step.error_type = "worker_lost"
    step.error_message = f"The worker was lost {MOST_ATTEMPTS} times at this step; it was not tried again."
    step.verdict = "error"
    step.lease_token = step.lease_until = None
    step.finished_at = now()
    step.save()


def _until() -> datetime:
    return now() + timedelta(seconds=settings.LEASE_SECONDS)
