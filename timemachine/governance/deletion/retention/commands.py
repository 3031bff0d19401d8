"""Deleting sessions together: found first, so that somebody sees what would go; deleted by a worker once a reason is given.

Every session goes in a transaction of its own, with its tombstone and what became of it; a worker that is killed leaves the rest to the next one.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from time import sleep
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.core.pure.heartbeat import heartbeat
from timemachine.evidence.sealing.session_deletion import MOST_TRIES, PAUSE, erase_session
from timemachine.governance.deletion.retention.legal_holds import required_reason
from timemachine.governance.deletion.retention.models import (
    CANCELLED,
    CHANGED,
    DONE,
    ERASED,
    FAILED,
    FOUND,
    GONE,
    HELD,
    RUNNING,
    WAITING,
    Forgetting,
    ForgottenSession,
    RetentionRule,
)
from timemachine.governance.deletion.retention.queries import due_by, rules_of, sessions_meant
from timemachine.governance.deletion.retention.session_filter import Which, which_of
from timemachine.recording.answering.summaries import HAS_SUMMARY
from timemachine.recording.sessions.holds import IS_HELD
from timemachine.recording.sessions.models import Session

AT_ONCE: Final = 1_000
RING_AGAIN_AFTER: Final = timedelta(seconds=30)
BEAT_EVERY: Final = 2.0


@transaction.atomic
def prepare(project: Project, which: Which, *, by: str) -> Forgetting:
    """Find the sessions that are meant now; these, and no later ones, are deleted once `confirm` is called. Raises `InvalidInput`."""
    made = Forgetting.objects.create(project=project, wanted=which.given, requested_by=by[:254])
    _keep(made, sessions_meant(project, which))
    return made


@transaction.atomic
def begin_by_rule(rule: RetentionRule, sessions: QuerySet[Session], words: str) -> Forgetting | None:
    """Delete what a rule says; None where that is nothing. Sessions under a hold are not taken up: they are looked for again each time."""
    made = Forgetting(
        project=rule.project,
        rule=rule,
        wanted={"agent": rule.agent, "tag": rule.tag, "older_than_days": rule.days},
        status=RUNNING,
        reason=f"Retention rule, {words}",
        requested_by="retention",
        confirmed_by="retention",
        confirmed_at=now(),
    )
    found = sessions.filter(~IS_HELD)
    if not found.exists():
        return None
    made.save(force_insert=True)
    _keep(made, found)
    return made


@transaction.atomic
def confirm(forgetting: Forgetting, *, reason: str, by: str) -> Forgetting:
    """Have the sessions that were found deleted, for a reason that every tombstone keeps. Raises `InvalidInput` without one, `Conflict` where it was done before."""
    said = required_reason(reason, "why these sessions are deleted")
    row = Forgetting.objects.select_for_update().get(pk=forgetting.pk)
    if row.status != FOUND:
        raise Conflict(
            "This was deleted before, is being deleted, or was called off.", code="forgetting_confirmed"
        )
    if not row.sessions.exists():
        raise Conflict("No session is meant by that, so there is nothing to delete.", code="nothing_to_erase")
    row.status, row.reason, row.confirmed_by, row.confirmed_at = RUNNING, said, by[:254], now()
    row.rung_at = now()
    row.save(update_fields=["status", "reason", "confirmed_by", "confirmed_at", "rung_at"])
    return row


@transaction.atomic
def cancel(forgetting: Forgetting) -> Forgetting:
    """Delete none of the sessions that still wait; what is deleted stays deleted. Raises `Conflict` where it is over."""
    row = Forgetting.objects.select_for_update().get(pk=forgetting.pk)
    if row.status not in (FOUND, RUNNING):
        raise Conflict("This deletion is over; there is nothing to call off.", code="forgetting_over")
    row.status, row.finished_at, row.lease_until = CANCELLED, now(), None
    row.save(update_fields=["status", "finished_at", "lease_until"])
    return row


def work(forgetting_id: UUID) -> None:
    """Delete session after session until none waits. Safe to run twice, at the same time, and to be killed at any point."""
    found = _claim(forgetting_id)
    if found is None:
        return

    def beat() -> None:
        _mine(found).update(lease_until=_until())

    with heartbeat(beat, every=BEAT_EVERY, at_end=connections.close_all):
        while (each := _next(found)) is not None:
            _forget(found, each)
    if not found.sessions.filter(state=WAITING).exists():
        _mine(found).update(status=DONE, finished_at=now(), lease_until=None)


@transaction.atomic
def due_for_ringing(*, at_once: bool = False) -> list[UUID]:
    """Deletions that run and nobody is at, marked as rung. `at_once` (a worker has just started) does not wait for the last ringing."""
    moment = now()
    idle = Forgetting.objects.filter(Q(lease_until=None) | Q(lease_until__lt=moment), status=RUNNING)
    if not at_once:
        idle = idle.filter(Q(rung_at=None) | Q(rung_at__lt=moment - RING_AGAIN_AFTER))
    ids = list(idle.values_list("id", flat=True)[:100])
    Forgetting.objects.filter(id__in=ids).update(rung_at=moment)
    return ids


@transaction.atomic
def _claim(forgetting_id: UUID) -> Forgetting | None:
    free = Q(lease_until=None) | Q(lease_until__lt=now())
    rows = Forgetting.objects.select_for_update(of=("self",)).select_related("project", "rule")
    found = rows.filter(free, id=forgetting_id, status=RUNNING).first()
    if found is not None:
        found.lease_token, found.lease_until = uuid4(), _until()
        found.save(update_fields=["lease_token", "lease_until"])
    return found


def _next(found: Forgetting) -> ForgottenSession | None:
    """The next session that waits; None where none does, the lease is another's, or it was called off."""
    if not _mine(found).exists():
        return None
    return found.sessions.filter(state=WAITING).order_by("id").first()


def _forget(found: Forgetting, each: ForgottenSession) -> None:
    """Settle a session, as often and with the pauses of one that is deleted by itself where somebody who records is in the way; else it stays, and the others need not."""
    for _ in range(MOST_TRIES - 1):
        try:
            return _try(found, each)
        except DatabaseError:
            sleep(PAUSE)
    try:
        _try(found, each)
    except DatabaseError as why:
        _tell(each, FAILED, f"The database did not delete it: {str(why).partition(chr(10))[0]}")


def _try(found: Forgetting, each: ForgottenSession) -> None:
    try:
        _settle(found, each)
    except Conflict as why:  # held
        _tell(each, HELD, why.message)
    except NotFound:
        _tell(each, GONE)


@transaction.atomic
def _settle(found: Forgetting, each: ForgottenSession) -> None:
    row = ForgottenSession.objects.select_for_update().get(pk=each.pk)
    if row.state == WAITING:
        _tell(row, _forgotten(found, row))


def _forgotten(found: Forgetting, row: ForgottenSession) -> str:
    """Delete the session; what became of it. Raises as `erase_session`."""
    session = Session.objects.filter(project=found.project_id, id=row.session).first()
    if session is None:
        return GONE
    if not _still_meant(found).filter(pk=session.pk).exists():
        return CHANGED
    erase_session(session, by=found.confirmed_by, reason=found.reason)
    return ERASED


def _still_meant(found: Forgetting) -> QuerySet[Session]:
    """What fits as it did when it was found: a tag that was taken off since saves its session."""
    if found.rule_id is not None:
        rules = list(rules_of(found.project))
        mine = next((each for each in rules if each.id == found.rule_id), None)
        return Session.objects.none() if mine is None else due_by(mine, rules, found.requested_at)
    return sessions_meant(found.project, which_of(found.wanted), found.requested_at)


def _tell(row: ForgottenSession, state: str, problem: str | None = None) -> None:
    ForgottenSession.objects.filter(pk=row.pk).update(state=state, problem=problem)


def _keep(made: Forgetting, sessions: QuerySet[Session]) -> None:
    rows: Iterable[tuple[UUID, int, bool]] = (
        sessions.annotate(has_summary=HAS_SUMMARY)
        .order_by("started_at", "id")
        .values_list("id", "last_sequence", "has_summary")
    )
    ForgottenSession.objects.bulk_create(
        (
            ForgottenSession(forgetting=made, session=id_, turns=turns, summarised=summarised)
            for id_, turns, summarised in rows
        ),
        batch_size=AT_ONCE,
    )


def _mine(found: Forgetting) -> QuerySet[Forgetting]:
    return Forgetting.objects.filter(pk=found.pk, lease_token=found.lease_token, status=RUNNING)


def _until() -> datetime:
    return now() + timedelta(seconds=settings.LEASE_SECONDS)
