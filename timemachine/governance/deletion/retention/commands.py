"""Deleting sessions together: found first, so that somebody sees what would go; deleted by a worker once a reason is given.

Every session goes in a transaction of its own, with its tombstone and what became of it; a worker that is killed leaves the rest to the next one.
"""

from collections.abc import Iterable
from time import sleep
from typing import Final
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Lease, holding
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
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
    row.enqueued_at = now()
    row.save(update_fields=["status", "reason", "confirmed_by", "confirmed_at", "enqueued_at"])
    return row


@transaction.atomic
def cancel(forgetting: Forgetting) -> Forgetting:
    """Delete none of the sessions that still wait; what is deleted stays deleted. Raises `Conflict` where it is over."""
    row = Forgetting.objects.select_for_update().get(pk=forgetting.pk)
    if row.status not in (FOUND, RUNNING):
        raise Conflict("This deletion is over; there is nothing to call off.", code="forgetting_over")
    row.status, row.finished_at = CANCELLED, now()
    row.lease_token = row.lease_until = None
    row.save(update_fields=["status", "finished_at", "lease_token", "lease_until"])
    return row


def work(forgetting_id: UUID) -> None:
    """Delete session after session until none waits. Safe to run twice, at the same time, and to be killed at any point."""
    with holding(overdue().filter(id=forgetting_id)) as lease:
        if lease is not None:
            _delete_all(lease)


def overdue() -> QuerySet[Forgetting]:
    """Return the deletions that have begun and are not done."""
    return Forgetting.objects.filter(status=RUNNING)


def _delete_all(lease: Lease[Forgetting]) -> None:
    found = lease.row("project", "rule")
    while (each := _next(lease, found)) is not None:
        _forget(found, each)
    if not found.sessions.filter(state=WAITING).exists():
        lease.release(status=DONE, finished_at=now())


def _next(lease: Lease[Forgetting], found: Forgetting) -> ForgottenSession | None:
    """The next session that waits; None where none does, another worker has the deletion, or it was called off."""
    if not lease.held().exists():
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
