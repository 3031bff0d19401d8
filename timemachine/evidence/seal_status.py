"""The seals of sessions in a list: how far each goes, and the result of its last check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from timemachine.evidence.models import Seal
from timemachine.evidence.queries import Sealed
from timemachine.evidence.sealing.erased_since import ErasureSummary
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
    """A row of `_SEALS`: a session's seal, its last finished check, and what was erased."""

    problem: str | None
    signed_size: int
    checked_at: datetime | None
    compared_from: datetime | None
    intact: bool
    erased: int
    erased_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSeal:
    """How far a thing is sealed, in a `word`; when it was last checked, and whether all was `intact`.

    `erased` is how many of its fields were erased; `erased_since` whether some were erased after that check.
    """

    word: str
    records: int = 0
    checked_at: datetime | None = None
    intact: bool = True
    erased: int = 0
    erased_since: bool = False


def listed_seals(sessions: Sequence[Session]) -> Mapping[UUID, ListedSeal]:
    """Return the seals of these sessions. One query."""
    rows = prepared_statements.fetch_rows(_SEALS, {"sessions": [each.id for each in sessions]})
    found = {session: _Row(*row) for session, *row in rows}
    return {each.id: _listed(each, found.get(each.id)) for each in sessions}


def listed_seal(sealed: Sealed) -> ListedSeal:
    """Return how a list shows a replay or comparison. No query."""
    if sealed.checkpoint is None:
        return ListedSeal(word=_unsealed_word(sealed.seal))
    return ListedSeal(
        word=SO_FAR if sealed.unsealed > 0 else SEALED,
        records=sealed.checkpoint.size,
        checked_at=sealed.check.finished_at if sealed.check else None,
        intact=not sealed.altered,
        erased=sealed.erased.fields,
        erased_since=sealed.erased_since,
    )


def _unsealed_word(seal: Seal | None) -> str:
    if seal is None:
        return NOT_YET
    return STOPPED if seal.problem else RESEALING if seal.generation > 1 else NOT_YET


def _listed(session: Session, seal: _Row | None) -> ListedSeal:
    if seal is None:
        return ListedSeal(word=NOT_YET)
    erased = ErasureSummary(fields=seal.erased, at=seal.erased_at)
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
    is_complete = seal.signed_size > session.last_sequence and session.status == Session.ENDED
    return SEALED if is_complete else SO_FAR
