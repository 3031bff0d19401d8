"""The seals of sessions in a list: how far each goes, and what its last check came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from timemachine.evidence.models import Seal
from timemachine.evidence.queries import Sealed
from timemachine.evidence.sealing.erased_since import Erased
from timemachine.knowledge import prepared_statements
from timemachine.recording.sessions.models import Session

NOT_YET, SO_FAR, SEALED, STOPPED = "not yet", "so far", "sealed", "stopped"
RESEALING: Final = "being resealed"  # a comparison, after an erasure
_SEALS: Final = """
SELECT seal.session_id, seal.problem, seal.signed_size, compared.finished_at, compared.started_at,
    COALESCE(compared.problems = '[]', true), erased.fields, erased.at
FROM tm_seal seal
LEFT JOIN LATERAL (
    SELECT * FROM tm_seal_check WHERE seal_id = seal.id AND finished_at IS NOT NULL ORDER BY requested_at DESC LIMIT 1
) compared ON true
CROSS JOIN LATERAL (
    SELECT count(DISTINCT (index, field)) AS fields, max(erased_at) AS at FROM tm_erased_field
    WHERE session_id = seal.session_id AND replay_id IS NULL
) erased
WHERE seal.session_id = ANY(%(sessions)s)
"""


class _Row(NamedTuple):
    """What `_SEALS` says of a session: its seal, the last finished check of it, and what was erased."""

    problem: str | None
    signed_size: int
    checked_at: datetime | None
    compared_from: datetime | None
    intact: bool
    erased: int
    erased_at: datetime | None


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
    rows = prepared_statements.rows(_SEALS, {"sessions": [each.id for each in sessions]})
    found = {session: _Row(*row) for session, *row in rows}
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
    return STOPPED if seal.problem else RESEALING if seal.generation > 1 else NOT_YET


def _listed(session: Session, seal: _Row | None) -> ListedSeal:
    if seal is None:
        return ListedSeal(word=NOT_YET)
    erased = Erased(fields=seal.erased, at=seal.erased_at)
    return ListedSeal(
        word=_word(session, seal),
        records=seal.signed_size,
        checked_at=seal.checked_at,
        intact=seal.intact,
        erased=erased.fields,
        erased_since=erased.is_after(seal.compared_from or seal.checked_at),
    )


def _word(session: Session, seal: _Row) -> str:
    if seal.problem:
        return STOPPED
    if not seal.signed_size:
        return NOT_YET
    whole = seal.signed_size > session.last_sequence and session.status == Session.ENDED
    return SEALED if whole else SO_FAR
