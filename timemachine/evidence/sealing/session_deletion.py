"""Deleting sessions. A tombstone in the log says when, by whom and why, and nothing of the content."""

from collections.abc import Collection, Iterable, Sequence
from time import sleep
from typing import Final
from uuid import UUID

from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.text_caches import clear_text_caches
from timemachine.evidence.log import access, project_log
from timemachine.evidence.models import COMPARISON, SESSION, Seal
from timemachine.evidence.pure.reason import checked_reason
from timemachine.evidence.sealing import previous_seals
from timemachine.evidence.sealing.comparison_subject import run_ended_at
from timemachine.evidence.sealing.previous_seals import Replacement
from timemachine.evidence.sealing.seals import locked_seals
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.importing.commands import erase_from_imports
from timemachine.recording.sessions import deletions
from timemachine.recording.sessions.holds import require_no_hold
from timemachine.recording.sessions.locks import lock_against_sealing
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison

MOST_TRIES: Final = 4
PAUSE: Final = 0.2
"""Seconds before the next attempt: long enough for the recorders that held the locks to finish."""


def erase_session(session: Session, *, by: str | None, reason: str | None = None, moved: bool = False) -> int:
    """Delete a session with everything that belongs to it and return how many actions it had. The log gets
    tombstones of it and of its seals.

    If it has `moved` to another session, only what was sealed of it leaves tombstones. A comparison that also
    covers other sessions loses its seal and is resealed without the deleted cells. Tombstones contain the
    reason.

    Raises `SensitiveReason` if the built-in profile finds something in the reason, `Conflict` (`on_hold`) for
    a session under legal hold. After a deadlock with a recorder it tries again: the recorder has sent its
    data, and only a person waits here.
    """
    for _ in range(MOST_TRIES - 1):
        try:
            return _erase_session(session, by=by, reason=reason, moved=moved)
        except OperationalError as why:
            if connection.in_atomic_block or not isinstance(why.__cause__, DeadlockDetected):
                raise
        sleep(PAUSE)
    return _erase_session(session, by=by, reason=reason, moved=moved)


@transaction.atomic
def _erase_session(session: Session, *, by: str | None, reason: str | None, moved: bool) -> int:
    reason = reason if moved else checked_reason(reason or "") or None
    lock_against_sealing(session)
    locked = Session.objects.select_for_update().filter(pk=session.pk).first()
    if locked is None:
        raise NotFound("The session was deleted in the meantime.", code="session_not_found")
    require_no_hold(locked)
    comparisons = list(Comparison.objects.filter(runs__replay__session=session).distinct())
    sealed = locked_seals(session)
    remaining = {each.id for each in comparisons if each.runs.exclude(replay__session=session).exists()}
    entries = [*_tombstones(sealed, by, reason, remaining), *access.tombstones(session, comparisons)]
    if not moved and not any(each.of == SESSION for each in sealed):
        entries.append(_tombstone(SESSION, str(session.pk), 1) | _because(by, reason))
    if entries:
        why = Replacement(at=now(), by=by, reason=reason)
        first = project_log.append(session.project, entries, why.at)
        previous_seals.store_replaced(sealed, remaining, first, why)
        if not moved:
            deletions.record_deletion(
                locked,
                actions=locked.last_sequence,
                by=by,
                reason=reason,
                at=why.at,
                log_index=first,
                summaries=remaining_summaries(locked),
            )
    erase_from_imports(session)
    if not moved:
        record(
            session.project_id,
            "session.deleted",
            "session",
            session.pk,
            by=by or "",
            steps=locked.last_sequence,
        )
    erased = deletions.erase_session(session)
    _restart_seals([each for each in sealed if each.of == COMPARISON])
    clear_text_caches()
    return erased


def reseal_comparisons(
    session: Session, *, by: str | None, reason: str | None, fields: int | None = None
) -> None:
    """Have the comparisons over a session resealed with what remains. Old seals get tombstones in the log.

    `fields` is how many fields of the session and its replays were erased. Call it in the transaction that
    erased something of their cells or remarks, after `lock_against_sealing`.
    """
    sealed = [each for each in locked_seals(session) if each.of == COMPARISON]
    if sealed:
        remaining = {each.comparison_id for each in sealed if each.comparison_id is not None}
        why = Replacement(at=now(), by=by, reason=reason, fields=fields)
        first = project_log.append(session.project, list(_tombstones(sealed, by, reason, remaining)), why.at)
        previous_seals.store_replaced(sealed, remaining, first, why)
        _restart_seals(sealed)


def _tombstones(
    sealed: Sequence[Seal], by: str | None, reason: str | None, remaining: Collection[UUID]
) -> Iterable[dict[str, object]]:
    """Yield a log line for each seal, with the generation that a `remaining` comparison is resealed as."""
    because = _because(by, reason)
    newest = _newest(sealed)
    for seal in sealed:
        entry = _tombstone(seal.of, seal.subject_id, seal.generation)
        if seal.comparison_id in remaining and seal.comparison_id is not None:
            entry["sealed_anew"] = newest[seal.comparison_id] + 1
        yield entry | because


def _tombstone(of: str, subject: str, generation: int) -> dict[str, object]:
    return {"entry": project_log.ERASED, "of": of, "id": subject, "generation": generation}


def _because(by: str | None, reason: str | None) -> dict[str, object]:
    return {name: value for name, value in (("by", by), ("reason", reason)) if value}


def _newest(sealed: Iterable[Seal]) -> dict[UUID, int]:
    found: dict[UUID, int] = {}
    for each in sealed:
        if each.comparison_id is not None:
            found[each.comparison_id] = max(each.generation, found.get(each.comparison_id, 0))
    return found


def _restart_seals(sealed: Iterable[Seal]) -> None:
    """Delete these seals. Their remaining comparisons get a new generation of records."""
    newest = _newest(sealed)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        Seal.objects.filter(comparison__in=newest).delete()
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    for remaining in Comparison.objects.filter(id__in=newest):
        Seal.objects.create(
            project_id=remaining.project_id,
            of=COMPARISON,
            comparison=remaining,
            generation=newest[remaining.id] + 1,
            run_ended_at=run_ended_at(remaining),
        )
