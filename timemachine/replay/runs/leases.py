"""Who works on which steps, and until when. A worker that slept past its lease cannot write: every write carries its token.

Steps that call a model are taken only while fewer than may be of its provider's are being called, over all workers: of others
all that are taken count, of one's own those that are not answered yet. Who has every place of a provider may take some ahead.
Steps that call nobody are taken several at a time, because taking one costs about as much as doing it.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import Error, connection, connections, transaction
from django.db.models import F, Q, QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.heartbeat import heartbeat
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep

log = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
AT_A_TIME: Final = 8
"""How many steps that call nobody are taken together."""
_CLAIMING: Final = 7_262_001
"""The advisory lock under which the calls under way are counted."""

_BUSY: Final = """
SELECT provider, count(*) FILTER (WHERE NOT spared), count(*) FILTER (WHERE spared) FROM (
    SELECT provider, (id, lease_token) IN (SELECT * FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[])) AS spared
    FROM tm_replay_step WHERE status = 'running' AND lease_until >= %(now)s AND provider IS NOT NULL
) AS running GROUP BY provider
"""
_CLAIM: Final = """
WITH next AS (
    SELECT id FROM tm_replay_step
    WHERE replay_id = %(replay)s AND attempts_made < %(most)s AND (provider IS NOT NULL) = %(calls)s
      AND (attempts_made = 0) = %(fresh)s
      AND (status IN ('waiting', 'uncertain') OR (status = 'running' AND lease_until < %(now)s))
      AND NOT coalesce(provider, '') = ANY(%(full)s)
      AND NOT EXISTS (SELECT FROM tm_replay WHERE id = %(replay)s AND cancel_requested_at IS NOT NULL)
    ORDER BY sequence LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), lost AS (
    UPDATE tm_replay_attempt SET outcome = 'lost', finished_at = %(now)s
    WHERE outcome IS NULL AND step_id IN (SELECT id FROM next)
), taken AS (
    UPDATE tm_replay_step
    SET status = 'running', attempts_made = attempts_made + %(counted)s, lease_token = %(token)s, lease_until = %(until)s,
        started_at = coalesce(started_at, %(now)s), asked_again_at = NULL, waits_because = NULL
    WHERE id IN (SELECT id FROM next) RETURNING id, sequence
), tried AS (
    INSERT INTO tm_replay_attempt (step_id, number, lease_token, worker, started_at)
    SELECT id, 1 + (SELECT count(*) FROM tm_replay_attempt AS a WHERE a.step_id = taken.id),
        %(token)s, %(worker)s, %(now)s
    FROM taken RETURNING id, step_id, number
)
SELECT taken.id, tried.id, tried.number FROM taken JOIN tried ON tried.step_id = taken.id ORDER BY taken.sequence
"""

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


@contextmanager
def briefly() -> Iterator[None]:
    """A transaction that the database ends where this process sleeps in it for as long as a lease: all others would wait for its locks."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            milliseconds = str(int(settings.LEASE_SECONDS * 1000))
            cursor.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [milliseconds]
            )
        yield


class LeaseLost(Exception):
    """Another worker has the step now; what this one found is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write one step, once; `number` counts the attempts at it from 1.

    One that was taken ahead is `counted` among its attempts only when it calls: it may be lost before it was begun.
    """

    step_id: int
    replay_id: UUID
    attempt_id: int
    number: int
    token: UUID
    counted: bool


class Keeper:
    """Keeps the leases alive that were given to it, all by one beat: a call of a model may take minutes."""

    def __init__(self) -> None:
        self._kept: Counter[UUID] = Counter()
        self._lock = Lock()

    def keep(self, token: UUID) -> None:
        """Keep the leases of this token alive, until they were let go as often as they were kept."""
        with self._lock:
            self._kept[token] += 1

    def let_go(self, token: UUID) -> None:
        """Keep them alive no longer."""
        with self._lock:
            self._kept[token] -= 1
            if not self._kept[token]:
                del self._kept[token]

    @contextmanager
    def keeping(self, token: UUID) -> Iterator[None]:
        """Keep the leases of this token alive while the block runs."""
        self.keep(token)
        try:
            yield
        finally:
            self.let_go(token)

    def beat(self) -> None:
        """Prolong what is kept at this moment, and still held."""
        with self._lock:
            tokens = list(self._kept)
        try:
            _prolong(tokens)
        except Error as why:  # a heart that stopped would have all of them taken, and called for again
            log.warning("leases could not be kept alive, trying again: %s", why)
            connection.close()


def _prolong(tokens: Sequence[UUID]) -> None:
    held = ReplayStep.objects.filter(lease_token__in=tokens, status="running")
    with briefly():
        # what is being written at this moment is passed over: it needs no lease any more
        ids = held.select_for_update(skip_locked=True).order_by("id").values_list("id", flat=True)
        ReplayStep.objects.filter(id__in=list(ids)).update(lease_until=_until())


@contextmanager
def keeper() -> Iterator[Keeper]:
    """A keeper whose heart beats while the block runs."""
    made = Keeper()
    beats = heartbeat(
        made.beat,
        every=settings.LEASE_SECONDS / 4,
        at_end=connections.close_all,  # those of its own thread
    )
    with beats:
        yield made


def claim(
    replay_id: UUID,
    worker: str,
    *,
    calls: bool,
    most: int = 1,
    spared: Collection[Lease] = (),
    ahead: bool = False,
) -> list[Lease]:
    """The next steps that wait or whose worker was lost, leased to this worker under one token, in their order.

    `calls`: steps that call a model, at most so many and no more than their providers have places; those that are `spared` of one's own
    need none. `ahead`: some that there is no place for yet, and only where those that are spared have every place of their
    provider: then nobody else can have one before these are begun. Else up to `AT_A_TIME` that call nobody. One that was lost before comes
    last and alone, so that it takes no others with it, and never ahead. None where there is none, or the replay is to be
    cancelled. An attempt that ended without an outcome is marked `lost`; after `MOST_ATTEMPTS` of them a step fails.
    """
    moment, token = now(), uuid4()
    facts: dict[str, Any] = {
        "replay": replay_id,
        "worker": worker,
        "token": token,
        "now": moment,
        "most": MOST_ATTEMPTS,
        "until": moment + timedelta(seconds=settings.LEASE_SECONDS),
        "calls": calls,
        "full": [],
        "counted": 0 if ahead else 1,
    }
    limit = AT_A_TIME
    with briefly(), connection.cursor() as cursor:
        if calls:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_CLAIMING])
            ids, tokens = [lease.step_id for lease in spared], [lease.token for lease in spared]
            cursor.execute(_BUSY, {"now": moment, "ids": ids, "tokens": tokens})
            running = cursor.fetchall()
            if ahead and not _all_are_ones_own(running):
                return []
            facts["full"], places = _places({provider: calls for provider, calls, _ in running})
            limit = most if ahead else min(most, places)
        cursor.execute(_CLAIM, facts | {"fresh": True, "limit": limit})
        taken = cursor.fetchall()
        if not taken and not ahead:
            cursor.execute(_CLAIM, facts | {"fresh": False, "limit": 1})
            taken = cursor.fetchall()
    return [
        Lease(
            step_id=step,
            replay_id=replay_id,
            attempt_id=attempt,
            number=number,
            token=token,
            counted=not ahead,
        )
        for step, attempt, number in taken
    ]


def _all_are_ones_own(running: Sequence[tuple[str, int, int]]) -> bool:
    """Whether the steps that are spared, all of one provider, have every place of it; of each provider the calls of others and they."""
    ours = [(others, own) for _, others, own in running if own]
    return len(ours) == 1 and ours[0][0] == 0 and ours[0][1] >= settings.MODEL_CALLS_AT_ONCE


def _places(busy: Mapping[str, int]) -> tuple[list[str], int]:
    """The providers without a place, and how many places each of the others has at least."""
    most = settings.MODEL_CALLS_AT_ONCE
    full = [provider for provider, calls in busy.items() if calls >= most]
    return full, most - max((calls for calls in busy.values() if calls < most), default=0)


def open_steps(replay_id: UUID, *, calls: bool) -> int:
    """How many steps wait to be taken up; what has been lost too often fails now and does not count. None of a cancelled replay."""
    if Replay.objects.filter(id=replay_id, cancel_requested_at__isnull=False).exists():
        return 0
    free = _free(replay_id).filter(provider__isnull=not calls)
    _give_up(free.filter(attempts_made__gte=MOST_ATTEMPTS))
    return free.count()


def may_be_taken_ahead(replay_id: UUID) -> bool:
    """Whether the steps of the replay that call a model all call one of the same provider, and no worker has or lost any that is open."""
    calling = ReplayStep.objects.filter(replay_id=replay_id, provider__isnull=False).order_by()
    open_ = calling.filter(status__in=("waiting", "running", "uncertain"))
    begun = ReplayAttempt.objects.filter(step__in=open_).exists()
    return not begun and calling.values("provider").distinct().count() == 1


def give_back(leases: Sequence[Lease]) -> None:
    """Put steps back that were taken and not begun."""
    with transaction.atomic():
        for lease in leases:
            if held(lease).update(
                status="waiting",
                attempts_made=F("attempts_made") - int(lease.counted),
                lease_token=None,
                lease_until=None,
            ):
                ReplayAttempt.objects.filter(id=lease.attempt_id).delete()


def intend_call(lease: Lease) -> None:
    """Write down that a model is about to be called. Raises `LeaseLost` where it must not be: also where the replay is cancelled."""
    with connection.cursor() as cursor:
        facts: dict[str, Any] = {
            "step": lease.step_id,
            "replay": lease.replay_id,
            "attempt": lease.attempt_id,
            "token": lease.token,
            "now": now(),
            "counted": lease.counted,
        }
        cursor.execute(_INTEND, facts)
        if not cursor.rowcount:
            raise LeaseLost


def held(lease: Lease) -> QuerySet[ReplayStep]:
    """The step, if the lease still holds: a write that changes nothing came too late."""
    return ReplayStep.objects.filter(id=lease.step_id, lease_token=lease.token, status="running")


def _free(replay_id: UUID) -> QuerySet[ReplayStep]:
    lost = Q(status="running", lease_until__lt=now())
    return ReplayStep.objects.filter(Q(status__in=("waiting", "uncertain")) | lost, replay_id=replay_id)


@transaction.atomic
def _give_up(steps: QuerySet[ReplayStep]) -> None:
    ids = list(steps.select_for_update(skip_locked=True).values_list("id", flat=True))
    ReplayAttempt.objects.filter(step__in=ids, outcome=None).update(outcome="lost", finished_at=now())
    ReplayStep.objects.filter(id__in=ids).update(
        status="failed",
        error_type="worker_lost",
        error_message=f"The worker was lost {MOST_ATTEMPTS} times at this step; it was not tried again.",
        verdict="error",
        lease_token=None,
        lease_until=None,
        finished_at=now(),
    )


def _until() -> datetime:
    return now() + timedelta(seconds=settings.LEASE_SECONDS)
