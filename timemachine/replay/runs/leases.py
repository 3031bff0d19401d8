"""Claiming steps: `timemachine.core.leases` for many steps in one statement, with their attempts and their providers' limits.

Steps that call a model are claimed only while the provider has a free slot, counted over all workers: every
claimed step of other workers counts, and those of this worker that are not answered yet. A worker that has
every slot of a provider may claim some steps ahead. Steps that call no model are claimed in batches, because
claiming one costs about as much as running it.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet

from timemachine.core.database import lock_until_commit
from timemachine.core.leases import (
    FREE,
    MOST_ATTEMPTS,
    TAKE,
    Lease,
    LeaseKeeper,
    LeaseLost,
    briefly,
    claim_facts,
    clear,
    is_free,
)
from timemachine.core.pure.clock import now
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.statuses import OPEN_STEP_STATUSES

CLAIM_BATCH: Final = 8
"""How many steps that call no model are claimed together."""
_CLAIMING: Final = "claiming model calls"
"""The lock under which running calls are counted."""

_BUSY: Final = """
SELECT provider, count(*) FILTER (WHERE NOT spared), count(*) FILTER (WHERE spared) FROM (
    SELECT provider, (id, lease_token) IN (SELECT * FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[])) AS spared
    FROM tm_replay_step WHERE status = 'running' AND lease_until >= %(now)s AND provider IS NOT NULL
) AS running GROUP BY provider
"""
_CLAIM: Final = f"""
WITH next AS (
    SELECT id FROM tm_replay_step
    WHERE replay_id = %(replay)s AND attempts_made < %(most)s AND (provider IS NOT NULL) = %(calls)s
      AND (attempts_made = 0) = %(fresh)s
      AND status IN ('waiting', 'running', 'uncertain') AND {FREE}
      AND NOT coalesce(provider, '') = ANY(%(full)s)
      AND NOT EXISTS (SELECT FROM tm_replay WHERE id = %(replay)s AND cancel_requested_at IS NOT NULL)
    ORDER BY sequence LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), lost AS (
    UPDATE tm_replay_attempt SET outcome = 'lost', finished_at = %(now)s
    WHERE outcome IS NULL AND step_id IN (SELECT id FROM next)
), taken AS (
    UPDATE tm_replay_step
    SET status = 'running', attempts_made = attempts_made + %(counted)s, {TAKE},
        started_at = coalesce(started_at, %(now)s), asked_again_at = NULL, waits_because = NULL
    WHERE id IN (SELECT id FROM next) RETURNING id, sequence
), tried AS (
    INSERT INTO tm_replay_attempt (step_id, number, lease_token, worker, started_at)
    SELECT id, 1 + (SELECT count(*) FROM tm_replay_attempt AS a WHERE a.step_id = taken.id),
        %(token)s, %(worker)s, %(now)s
    FROM taken RETURNING id, step_id, number
)
SELECT taken.id, tried.id, tried.number FROM taken JOIN tried ON tried.step_id = taken.id ORDER BY taken.sequence
"""  # noqa: S608  # both parts are constants

_INTEND: Final = """
WITH held AS (
    SELECT id FROM tm_replay_step WHERE id = %(step)s AND lease_token = %(token)s AND status = 'running'
        AND NOT EXISTS (SELECT FROM tm_replay WHERE id = %(replay)s AND cancel_requested_at IS NOT NULL)
    FOR UPDATE
), begun AS (
    UPDATE tm_replay_step SET attempts_made = attempts_made + 1 WHERE NOT %(counted)s AND id IN (SELECT id FROM held)
)
UPDATE tm_replay_attempt SET call_intended_at = %(now)s WHERE id = %(attempt)s AND step_id IN (SELECT id FROM held)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLease(Lease[ReplayStep]):
    """The right to write one step, once; `number` counts its attempts from 1.

    A step that was claimed ahead counts as an attempt (`counted`) only when its call starts: its worker may
    be lost before that.
    """

    model: type[ReplayStep] = ReplayStep
    replay_id: UUID
    attempt_id: int
    number: int
    counted: bool


def keeper() -> AbstractContextManager[LeaseKeeper]:
    """Extend the leases of kept steps while the block runs."""
    return LeaseKeeper(ReplayStep.objects.filter(status="running")).beating()


def claim(
    replay_id: UUID,
    worker: str,
    *,
    calls: bool,
    most: int = 1,
    spared: Collection[StepLease] = (),
    ahead: bool = False,
) -> list[StepLease]:
    """Lease the next steps that wait or whose worker was lost, in order, under one token.

    `calls` claims steps that call a model, at most `most` and no more than their providers have slots;
    otherwise up to `CLAIM_BATCH` steps that call none are claimed. The worker's own `spared` steps need no
    slot. `ahead` claims steps without a free slot, but only if the spared steps have every slot of their
    provider: then no other worker can get one first. A step whose worker was lost comes last and alone, so
    that it affects no others, and never ahead. An attempt that ended without an outcome is marked `lost`;
    after `MOST_ATTEMPTS` of them a step fails. Returns nothing for a cancelled replay.
    """
    facts = claim_facts() | {
        "replay": replay_id,
        "worker": worker,
        "most": MOST_ATTEMPTS,
        "calls": calls,
        "full": [],
        "counted": 0 if ahead else 1,
    }
    limit = CLAIM_BATCH
    with briefly(), connection.cursor() as cursor:
        if calls:
            lock_until_commit(_CLAIMING)
            ids, tokens = [lease.pk for lease in spared], [lease.token for lease in spared]
            cursor.execute(_BUSY, {"now": facts["now"], "ids": ids, "tokens": tokens})
            running = cursor.fetchall()
            if ahead and not _all_slots_are_ours(running):
                return []
            facts["full"], slots = _free_slots({provider: calls for provider, calls, _ in running})
            limit = most if ahead else min(most, slots)
        cursor.execute(_CLAIM, facts | {"fresh": True, "limit": limit})
        taken = cursor.fetchall()
        if not taken and not ahead:
            cursor.execute(_CLAIM, facts | {"fresh": False, "limit": 1})
            taken = cursor.fetchall()
    return [
        StepLease(
            pk=step,
            replay_id=replay_id,
            attempt_id=attempt,
            number=number,
            token=facts["token"],
            counted=not ahead,
        )
        for step, attempt, number in taken
    ]


def _all_slots_are_ours(running: Sequence[tuple[str, int, int]]) -> bool:
    """Return whether the spared steps, all of one provider, have every slot of it. Rows: provider, calls of others, own calls."""
    ours = [(others, own) for _, others, own in running if own]
    return len(ours) == 1 and ours[0][0] == 0 and ours[0][1] >= settings.MODEL_CALLS_AT_ONCE


def _free_slots(busy: Mapping[str, int]) -> tuple[list[str], int]:
    """Return the providers without a free slot, and the minimum number of free slots of the others."""
    most = settings.MODEL_CALLS_AT_ONCE
    full = [provider for provider, calls in busy.items() if calls >= most]
    return full, most - max((calls for calls in busy.values() if calls < most), default=0)


def open_steps(replay_id: UUID, *, calls: bool) -> int:
    """Return how many steps can be claimed, none if the replay is cancelled. Steps that were lost too often fail now."""
    if Replay.objects.filter(id=replay_id, cancel_requested_at__isnull=False).exists():
        return 0
    steps = ReplayStep.objects.filter(replay_id=replay_id, provider__isnull=not calls)
    free = steps.filter(is_free(), status__in=OPEN_STEP_STATUSES)
    _give_up(free.filter(attempts_made__gte=MOST_ATTEMPTS))
    return free.count()


def can_claim_ahead(replay_id: UUID) -> bool:
    """Return whether all model steps of the replay call the same provider and no open one has been attempted."""
    calling = ReplayStep.objects.filter(replay_id=replay_id, provider__isnull=False).order_by()
    open_ = calling.filter(status__in=("waiting", "running", "uncertain"))
    begun = ReplayAttempt.objects.filter(step__in=open_).exists()
    return not begun and calling.values("provider").distinct().count() == 1


def give_back(leases: Sequence[StepLease]) -> None:
    """Return claimed steps that have not started."""
    with transaction.atomic():
        for lease in leases:
            if lease.release(status="waiting", attempts_made=F("attempts_made") - int(lease.counted)):
                ReplayAttempt.objects.filter(id=lease.attempt_id).delete()


def intend_call(lease: StepLease) -> None:
    """Store that a model is about to be called.

    Raises: `LeaseLost` if it must not be called, because the lease is lost or the replay is cancelled.
    """
    facts = {
        "step": lease.pk,
        "replay": lease.replay_id,
        "attempt": lease.attempt_id,
        "token": lease.token,
        "now": now(),
        "counted": lease.counted,
    }
    with connection.cursor() as cursor:
        cursor.execute(_INTEND, facts)
        if not cursor.rowcount:
            raise LeaseLost


@transaction.atomic
def _give_up(steps: QuerySet[ReplayStep]) -> None:
    ids = list(steps.select_for_update(skip_locked=True).values_list("id", flat=True))
    ReplayAttempt.objects.filter(step__in=ids, outcome=None).update(outcome="lost", finished_at=now())
    clear(
        ReplayStep.objects.filter(id__in=ids),
        status="failed",
        error_type="worker_lost",
        error_message=f"The worker stopped {MOST_ATTEMPTS} times at this step. It will not be retried.",
        verdict="error",
        finished_at=now(),
    )
