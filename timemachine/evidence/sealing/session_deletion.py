"""Lawful erasure leaves a tombstone: the log says that something was erased, when, by whom and why, and nothing of what it was."""

from collections.abc import Collection, Iterable, Sequence
from time import sleep
from typing import Final
from uuid import UUID

from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.text_caches import clear_text_caches
from timemachine.evidence.log import access, project_log
from timemachine.evidence.models import COMPARISON, SESSION, Seal
from timemachine.evidence.pure.reason import checked_reason
from timemachine.evidence.sealing import previous_seals
from timemachine.evidence.sealing.comparison_subject import run_ended_at
from timemachine.evidence.sealing.locks import seals_over
from timemachine.evidence.sealing.previous_seals import Replaced
from timemachine.recording.answering.summaries import that_stay
from timemachine.recording.importing import past_imports
from timemachine.recording.sessions import deletions, session_deletion
from timemachine.recording.sessions.holds import require_free
from timemachine.recording.sessions.locks import keep_from_sealing
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison

MOST_TRIES: Final = 4
PAUSE: Final = 0.2
"""Seconds before it is tried again: long enough for those who record and were waited for to go on, who would be waited for again."""


def erase_session(session: Session, *, by: str | None, reason: str | None = None, moved: bool = False) -> int:
    """Erase a session with everything that belongs to it; how many actions it had. The log gets a tombstone of it, and of all that was sealed of it.

    What has `moved` to another session is not gone: only what was sealed of it leaves tombstones.

    A comparison over other sessions as well loses its seal with its cells, and is sealed anew as far as it is left. The tombstones keep
    the reason. Raises `ReasonTells` for one in which the built-in profile finds something, `Conflict` (`on_hold`) for a session under legal hold.

    Where somebody who records and this are in each other's way it is tried again: who records has sent, and a person waits here.
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
    keep_from_sealing(session)
    locked = Session.objects.select_for_update().filter(pk=session.pk).first()
    if locked is None:
        raise NotFound("The session was deleted meanwhile.", code="session_not_found")
    require_free(locked)
    touched = list(Comparison.objects.filter(runs__replay__session=session).distinct())
    sealed = seals_over(session)
    left = {each.id for each in touched if each.runs.exclude(replay__session=session).exists()}
    told = [*_tombstones(sealed, by, reason, left), *access.tombstones(session, touched)]
    if not moved and not any(each.of == SESSION for each in sealed):
        told.append(_tombstone(SESSION, str(session.pk), 1) | _because(by, reason))
    if told:
        why = Replaced(at=now(), by=by, reason=reason)
        first = project_log.append(session.project, told, why.at)
        previous_seals.keep(sealed, left, first, why)
        if not moved:
            deletions.remember(
                locked,
                actions=locked.last_sequence,
                by=by,
                reason=reason,
                at=why.at,
                log_index=first,
                summaries=that_stay(locked),
            )
    past_imports.erase_from_imports(session)
    erased = session_deletion.erase_session(session)
    _begin_anew([each for each in sealed if each.of == COMPARISON])
    clear_text_caches()
    return erased


def seal_anew(session: Session, *, by: str | None, reason: str | None, fields: int | None = None) -> None:
    """Have the comparisons over a session sealed anew, as what is left of them; what was sealed of them gets a tombstone in the log.

    `fields` is how many fields of the session and its replays were erased.

    Call it in the transaction that erased something of their cells, or of what was said of these, after `keep_from_sealing`.
    """
    sealed = [each for each in seals_over(session) if each.of == COMPARISON]
    if sealed:
        left = {each.comparison_id for each in sealed if each.comparison_id is not None}
        why = Replaced(at=now(), by=by, reason=reason, fields=fields)
        first = project_log.append(session.project, list(_tombstones(sealed, by, reason, left)), why.at)
        previous_seals.keep(sealed, left, first, why)
        _begin_anew(sealed)


def _tombstones(
    sealed: Sequence[Seal], by: str | None, reason: str | None, left: Collection[UUID]
) -> Iterable[dict[str, object]]:
    """A line for each seal. That of a comparison which is `left` names the generation as which that is sealed anew: the comparison was not erased."""
    told = _because(by, reason)
    newest = _newest(sealed)
    for seal in sealed:
        entry = _tombstone(seal.of, seal.subject_id, seal.generation)
        if seal.comparison_id in left and seal.comparison_id is not None:
            entry["sealed_anew"] = newest[seal.comparison_id] + 1
        yield entry | told


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


def _begin_anew(sealed: Iterable[Seal]) -> None:
    """Take away what is left of these seals. What is left of their comparisons goes on with another generation of records."""
    newest = _newest(sealed)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        Seal.objects.filter(comparison__in=newest).delete()
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    for left in Comparison.objects.filter(id__in=newest):
        Seal.objects.create(
            project_id=left.project_id,
            of=COMPARISON,
            comparison=left,
            generation=newest[left.id] + 1,
            run_ended_at=run_ended_at(left),
        )
