"""Lawful erasure leaves a tombstone: the log says that something was erased, when, by whom and why, and nothing of what it was."""

from collections.abc import Iterable

from django.db import transaction

from timemachine.evidence import log
from timemachine.evidence.models import REPLAY, SESSION, Seal
from timemachine.recording import erasure
from timemachine.recording.models import Session


@transaction.atomic
def erase_session(session: Session, *, by: str | None, reason: str | None = None) -> int:
    """Erase a session with everything that belongs to it; how many actions it had. What was sealed of it gets a tombstone in the log."""
    seals = Seal.objects.filter(session=session) | Seal.objects.filter(replay__session=session)
    sealed = list(seals.select_for_update(of=("self",)).order_by("id"))
    if sealed:
        log.append(session.project, list(_tombstones(sealed, by, reason)))
    return erasure.erase_session(session)


def _tombstones(sealed: Iterable[Seal], by: str | None, reason: str | None) -> Iterable[dict[str, object]]:
    told = {name: value for name, value in (("by", by), ("reason", reason)) if value}
    for seal in sealed:
        of, id_ = (SESSION, seal.session_id) if seal.of == SESSION else (REPLAY, seal.replay_id)
        yield {"entry": log.ERASED, "of": of, "id": str(id_), "generation": seal.generation, **told}
