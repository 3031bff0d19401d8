"""The seals of sessions in a list: how far each goes, and what its last check came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Max, OuterRef, Subquery

from timemachine.evidence.models import ErasedField, Seal, SealCheck
from timemachine.evidence.queries import Sealed
from timemachine.evidence.sealing.erased_since import WHICH, Erased
from timemachine.recording.sessions.models import Session

NOT_YET, SO_FAR, SEALED, STOPPED = "not yet", "so far", "sealed", "stopped"
ANEW: Final = "being sealed anew"  # a comparison, after an erasure
NO_PROBLEM: Final[list[object]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSeal:
    """`word` says how far a session is sealed; `checked_at` when that was last compared with the database, and whether all was `intact`.

    `erased` is how many fields were erased of it; `erased_since` whether some of them were after that comparison.
    """

    word: str
    records: int = 0
    checked_at: datetime | None = None
    intact: bool = True
    erased: int = 0
    erased_since: bool = False


def listed_seals(sessions: Sequence[Session]) -> Mapping[UUID, ListedSeal]:
    """The seal of each of some sessions. One query for any number of them."""
    checks = SealCheck.objects.filter(seal=OuterRef("pk"), finished_at__isnull=False).order_by(
        "-requested_at"
    )
    erased = ErasedField.objects.filter(session=OuterRef("session"), replay=None).order_by().values("session")
    seals = Seal.objects.filter(session__in=[each.id for each in sessions]).annotate(
        checked_at=Subquery(checks.values("finished_at")[:1]),
        compared_from=Subquery(checks.values("started_at")[:1]),
        problems=Subquery(checks.values("problems")[:1]),
        erased=Subquery(erased.annotate(number=Count(WHICH, distinct=True)).values("number")),
        erased_at=Subquery(erased.annotate(last=Max("erased_at")).values("last")),
    )
    found = {each.session_id: each for each in seals}
    return {each.id: _listed(each, found.get(each.id)) for each in sessions}


def listed_as(sealed: Sealed) -> ListedSeal:
    """What a list would say of a replay or comparison that is sealed, or not yet. No query."""
    if sealed.checkpoint is None:
        return ListedSeal(word=_word_of_nothing(sealed.seal))
    return ListedSeal(
        word=SO_FAR if sealed.unsealed > 0 else SEALED,
        records=sealed.checkpoint.size,
        checked_at=sealed.check.finished_at if sealed.check else None,
        intact=not sealed.altered,
        erased=sealed.erased.fields,
        erased_since=sealed.erased_since,
    )


def _word_of_nothing(seal: Seal | None) -> str:
    if seal is None:
        return NOT_YET
    return STOPPED if seal.problem else ANEW if seal.generation > 1 else NOT_YET


def _listed(session: Session, seal: Seal | None) -> ListedSeal:
    if seal is None:
        return ListedSeal(word=NOT_YET)
    checked_at: datetime | None = getattr(seal, "checked_at", None)
    intact = getattr(seal, "problems", None) in (None, NO_PROBLEM)
    erased = Erased(fields=getattr(seal, "erased", None) or 0, at=getattr(seal, "erased_at", None))
    began: datetime | None = getattr(seal, "compared_from", None) or checked_at
    return ListedSeal(
        word=_word(session, seal),
        records=seal.signed_size,
        checked_at=checked_at,
        intact=intact,
        erased=erased.fields,
        erased_since=erased.is_after(began),
    )


def _word(session: Session, seal: Seal) -> str:
    if seal.problem:
        return STOPPED
    if not seal.signed_size:
        return NOT_YET
    whole = seal.signed_size > session.last_sequence and session.status == Session.ENDED
    return SEALED if whole else SO_FAR
