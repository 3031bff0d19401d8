"""Bulk deletion: sessions are found, so that someone can review them, and deleted for a reason.

Each is deleted in its own transaction, with its tombstone. A killed worker leaves the rest to the next.
"""

from collections.abc import Iterable
from time import sleep
from typing import Final
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.leases import Lease, holding, since_the_first_claim
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.evidence.sealing.session_deletion import MOST_TRIES, PAUSE, erase_session
from timemachine.governance.deletion.retention import models
from timemachine.governance.deletion.retention.legal_holds import required_reason
from timemachine.governance.deletion.retention.queries import due_by, matching_sessions, rules_of
from timemachine.governance.deletion.retention.session_filter import SessionSelection, read_filter
from timemachine.recording.answering.summaries import HAS_SUMMARY
from timemachine.recording.sessions.holds import IS_HELD
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import OLDEST_FIRST

BATCH: Final = 1_000


@transaction.atomic
def prepare(project: Project, which: SessionSelection, *, by: str) -> models.BulkDeletion:
    """Find the sessions that match now; `confirm` deletes only these. Raises `InvalidInput`."""
    deletion = models.BulkDeletion.objects.create(project=project, wanted=which.given, requested_by=by[:254])
    _add_sessions(deletion, matching_sessions(project, which))
    return deletion


@transaction.atomic
def start_for_rule(
    rule: models.RetentionRule, sessions: QuerySet[Session], words: str
) -> models.BulkDeletion | None:
    """Start deleting what a rule selects, except sessions under a hold; None if that is nothing."""
    deletion = models.BulkDeletion(
        project=rule.project,
        rule=rule,
        wanted={"agent": rule.agent, "tag": rule.tag, "older_than_days": rule.days},
        status=models.RUNNING,
        reason=f"Retention rule, {words}",
        requested_by="retention",
        confirmed_by="retention",
        confirmed_at=now(),
    )
    due = sessions.filter(~IS_HELD)
    if not due.exists():
        return None
    deletion.save(force_insert=True)
    _add_sessions(deletion, due)
    record(
        rule.project_id, "bulk_deletion.started", "deletion", deletion.pk, by="retention", rule=str(rule.pk)
    )
    return deletion


@transaction.atomic
def confirm(deletion: models.BulkDeletion, *, reason: str, by: str) -> models.BulkDeletion:
    """Start deleting the sessions that were found, with a reason that every tombstone stores.

    Raises `InvalidInput` without a reason, `Conflict` if it was confirmed before.
    """
    checked = required_reason(reason, "why these sessions are being deleted")
    row = models.BulkDeletion.objects.select_for_update().get(pk=deletion.pk)
    if row.status != models.FOUND:
        raise Conflict(
            "This has already been deleted, is being deleted, or was cancelled.", code="forgetting_confirmed"
        )
    if not row.sessions.exists():
        raise Conflict("No session matches, so there is nothing to delete.", code="nothing_to_erase")
    row.status, row.reason, row.confirmed_by, row.confirmed_at = models.RUNNING, checked, by[:254], now()
    row.enqueued_at = now()
    row.save(update_fields=["status", "reason", "confirmed_by", "confirmed_at", "enqueued_at"])
    record(
        row.project_id, "bulk_deletion.confirmed", "deletion", row.pk, by=by, sessions=row.sessions.count()
    )
    return row


@transaction.atomic
def cancel(deletion: models.BulkDeletion) -> models.BulkDeletion:
    """Stop: waiting sessions stay, deleted ones stay deleted. Raises `Conflict` if it has finished."""
    row = models.BulkDeletion.objects.select_for_update().get(pk=deletion.pk)
    if row.status not in (models.FOUND, models.RUNNING):
        raise Conflict("This deletion has finished and cannot be cancelled.", code="forgetting_over")
    row.status, row.finished_at = models.CANCELLED, now()
    row.lease_token = row.lease_until = None
    row.save(update_fields=["status", "finished_at", "lease_token", "lease_until"])
    record(row.project_id, "bulk_deletion.cancelled", "deletion", row.pk)
    return row


def work(deletion_id: UUID) -> None:
    """Delete one session after another until none waits. Safe to repeat, to run twice, and to kill."""
    with holding(overdue().filter(id=deletion_id), began_at=since_the_first_claim()) as lease:
        if lease is not None:
            _delete_all(lease)


def overdue() -> QuerySet[models.BulkDeletion]:
    """Return the deletions that have started and not finished."""
    return models.BulkDeletion.objects.filter(status=models.RUNNING)


def _delete_all(lease: Lease[models.BulkDeletion]) -> None:
    deletion = lease.row("project", "rule")
    while (each := _next(lease, deletion)) is not None:
        _delete_with_retries(deletion, each)
    if not deletion.sessions.filter(state=models.WAITING).exists():
        lease.release(status=models.DONE, finished_at=now())


def _next(
    lease: Lease[models.BulkDeletion], deletion: models.BulkDeletion
) -> models.BulkDeletionSession | None:
    """Return the next waiting session; None without one, after a cancellation, or if the lease was lost."""
    if not lease.held().exists():
        return None
    return deletion.sessions.filter(state=models.WAITING).order_by("id").first()


def _delete_with_retries(deletion: models.BulkDeletion, each: models.BulkDeletionSession) -> None:
    """Delete a session, retrying after deadlocks with recorders; if that fails, it stays."""
    for _ in range(MOST_TRIES - 1):
        try:
            return _delete_one(deletion, each)
        except DatabaseError:
            sleep(PAUSE)
    try:
        _delete_one(deletion, each)
    except DatabaseError as why:
        _set_state(each, models.FAILED, f"The database could not delete it: {str(why).partition(chr(10))[0]}")


def _delete_one(deletion: models.BulkDeletion, each: models.BulkDeletionSession) -> None:
    try:
        _delete_if_waiting(deletion, each)
    except Conflict as why:  # held
        _set_state(each, models.HELD, why.message)
    except NotFound:
        _set_state(each, models.GONE)


@transaction.atomic
def _delete_if_waiting(deletion: models.BulkDeletion, each: models.BulkDeletionSession) -> None:
    row = models.BulkDeletionSession.objects.select_for_update().get(pk=each.pk)
    if row.state == models.WAITING:
        _set_state(row, _deleted_state(deletion, row))


def _deleted_state(deletion: models.BulkDeletion, row: models.BulkDeletionSession) -> str:
    """Delete the session and return its new state. Raises as `erase_session`."""
    session = Session.objects.filter(project=deletion.project_id, id=row.session).first()
    if session is None:
        return models.GONE
    if not _still_matching(deletion).filter(pk=session.pk).exists():
        return models.CHANGED
    erase_session(session, by=deletion.confirmed_by, reason=deletion.reason)
    return models.ERASED


def _still_matching(deletion: models.BulkDeletion) -> QuerySet[Session]:
    """Return the sessions that still match: removing a tag saves a session that was found by it."""
    if deletion.rule_id is not None:
        rules = list(rules_of(deletion.project))
        mine = next((each for each in rules if each.id == deletion.rule_id), None)
        return Session.objects.none() if mine is None else due_by(mine, rules, deletion.requested_at)
    return matching_sessions(deletion.project, read_filter(deletion.wanted), deletion.requested_at)


def _set_state(row: models.BulkDeletionSession, state: str, problem: str | None = None) -> None:
    models.BulkDeletionSession.objects.filter(pk=row.pk).update(state=state, problem=problem)


def _add_sessions(deletion: models.BulkDeletion, sessions: QuerySet[Session]) -> None:
    rows: Iterable[tuple[UUID, int, bool]] = (
        sessions.annotate(has_summary=HAS_SUMMARY)
        .order_by(*OLDEST_FIRST)
        .values_list("id", "last_sequence", "has_summary")
    )
    models.BulkDeletionSession.objects.bulk_create(
        (
            models.BulkDeletionSession(forgetting=deletion, session=id_, turns=turns, summarised=summarised)
            for id_, turns, summarised in rows
        ),
        batch_size=BATCH,
    )
