"""The seals of sessions in a list: how far each goes, and what its last check came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import OuterRef, Subquery

from timemachine.evidence.models import Seal, SealCheck
from timemachine.recording.models import Session

NOT_YET, SO_FAR, SEALED, STOPPED = "not yet", "so far", "sealed", "stopped"
NO_PROBLEM: Final[list[object]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSeal:
    """`word` says how far a session is sealed; `checked_at` when that was last compared with the database, and whether all was `intact`."""

    word: str
    records: int = 0
    checked_at: datetime | None = None
    intact: bool = True


def listed_seals(sessions: Sequence[Session]) -> Mapping[UUID, ListedSeal]:
    """The seal of each of some sessions. One query for any number of them."""
    checks = SealCheck.objects.filter(seal=OuterRef("pk"), finished_at__isnull=False).order_by(
        "-requested_at"
    )
    seals = Seal.objects.filter(session__in=[each.id for each in sessions]).annotate(
        checked_at=Subquery(checks.values("finished_at")[:1]),
        problems=Subquery(checks.values("problems")[:1]),
    )
    found = {each.session_id: each for each in seals}
    return {each.id: _listed(each, found.get(each.id)) for each in sessions}


def _listed(session: Session, seal: Seal | None) -> ListedSeal:
    if seal is None:
        return ListedSeal(word=NOT_YET)
    checked_at: datetime | None = getattr(seal, "checked_at", None)
    intact = getattr(seal, "problems", None) in (None, NO_PROBLEM)
    return ListedSeal(
        word=_word(session, seal), records=seal.signed_size, checked_at=checked_at, intact=intact
    )


def _word(session: Session, seal: Seal) -> str:
    if seal.problem:
        return STOPPED
    if not seal.signed_size:
        return NOT_YET
    return SEALED if seal.signed_size > session.last_sequence else SO_FAR
