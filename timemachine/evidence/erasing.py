"""Lawful erasure leaves a tombstone: the log says that something was erased, when, by whom and why, and nothing of what it was."""

from collections.abc import Iterable

from django.db import connection, transaction

from timemachine.comparison.models import Comparison
from timemachine.evidence import access, log
from timemachine.evidence.comparison_subject import run_ended_at
from timemachine.evidence.held import keep_from_sealing, seals_over
from timemachine.evidence.models import COMPARISON, Seal
from timemachine.recording import erasure
from timemachine.recording.models import Session


@transaction.atomic
def erase_session(session: Session, *, by: str | None, reason: str | None = None) -> int:
    """Erase a session with everything that belongs to it; how many actions it had. What was sealed of it gets a tombstone in the log.

    A comparison over other sessions as well loses its seal with its cells, and is sealed anew as far as it is left.
    """
    keep_from_sealing(session)
    Session.objects.select_for_update().get(pk=session.pk)
    touched = list(Comparison.objects.filter(runs__replay__session=session).distinct())
    sealed = seals_over(session)
    told = [*_tombstones(sealed, by, reason), *access.tombstones(session, touched)]
    if told:
        log.append(session.project, told)
    erased = erasure.erase_session(session)
    _begin_anew([each for each in sealed if each.of == COMPARISON])
    return erased


def seal_anew(session: Session, *, by: str | None, reason: str | None) -> None:
    """Have the comparisons over a session sealed anew, as what is left of them; what was sealed of them gets a tombstone in the log.

    Call it in the transaction that erased something of their cells, or of what was said of these, after `keep_from_sealing`.
    """
    sealed = [each for each in seals_over(session) if each.of == COMPARISON]
    if sealed:
        log.append(session.project, list(_tombstones(sealed, by, reason)))
        _begin_anew(sealed)


def _tombstones(sealed: Iterable[Seal], by: str | None, reason: str | None) -> Iterable[dict[str, object]]:
    told = {name: value for name, value in (("by", by), ("reason", reason)) if value}
    for seal in sealed:
        entry = {"entry": log.ERASED, "of": seal.of, "id": seal.subject_id, "generation": seal.generation}
        yield entry | told


def _begin_anew(sealed: Iterable[Seal]) -> None:
    """Take away what is left of these seals. What is left of their comparisons goes on with another generation of records."""
    newest = {seal.comparison_id: seal.generation for seal in sealed if seal.comparison_id is not None}
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
