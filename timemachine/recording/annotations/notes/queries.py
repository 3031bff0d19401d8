"""What we ask of notes: those of a session, of a stretch of it, of one step. A deleted one is in none of these."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.knowledge import prepared_statements
from timemachine.recording.annotations.notes.models import LIVE, Note
from timemachine.recording.sessions.models import Session

ORDER: Final = ("sequence", "id")
_LIVE: Final = "FROM tm_note WHERE session_id = %(session)s AND deleted_at IS NULL"
_COUNTS: Final = f"SELECT sequence, count(*) {_LIVE} AND sequence = ANY(%(sequences)s) GROUP BY sequence"
_NOTED: Final = f"""
SELECT DISTINCT sequence {_LIVE} AND sequence BETWEEN %(first)s AND %(last)s ORDER BY sequence LIMIT %(limit)s
"""


def notes_of(session: Session, through_sequence: int | None = None) -> QuerySet[Note]:
    """The session's notes by their steps, of one step the earliest first; with `through_sequence` those of the steps up to that one."""
    found = Note.objects.filter(LIVE, session=session).order_by(*ORDER)
    return found if through_sequence is None else found.filter(sequence__lte=through_sequence)


def notes_at(session: Session, sequence: int) -> QuerySet[Note]:
    """The notes of one step, the earliest first."""
    return notes_of(session).filter(sequence=sequence)


def notes_after(session: Session, after: UUID | None) -> QuerySet[Note]:
    """The session's notes that follow the one with that id, which may have been deleted meanwhile; without one, all of them.

    Raises `InvalidInput` where this session never had such a note. One query more than the rows need.
    """
    if after is None:
        return notes_of(session)
    sequence = Note.objects.filter(session=session, id=after).values_list("sequence", flat=True).first()
    if sequence is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return notes_of(session).filter(Q(sequence__gt=sequence) | Q(sequence=sequence, id__gt=after))


def note_of(session: Session, note_id: UUID) -> Note:
    """The session's note of that id. Raises `NotFound`; of one that was deleted it says by whom and when."""
    found = Note.objects.filter(session=session, id=note_id).first()
    if found is None:
        raise NotFound("This session has no such note.", code="note_not_found")
    if found.deleted_at is not None:
        raise deleted(found)
    return found


def note_counts(session: Session, sequences: Collection[int]) -> dict[int, int]:
    """How many notes these steps have; those without any are left out. One query."""
    facts = {"session": session.id, "sequences": list(sequences)}
    return dict(prepared_statements.rows(_COUNTS, facts))


def noted_steps(session: Session, first: int, last: int, limit: int) -> list[int]:
    """The first steps from `first` to `last` that have a note, each once, at most `limit`. One query."""
    facts = {"session": session.id, "first": first, "last": last, "limit": limit}
    return [sequence for (sequence,) in prepared_statements.rows(_NOTED, facts)]


def deleted(note: Note) -> NotFound:
    """What to raise for a note that was deleted."""
    return NotFound(
        f"This note was deleted by {note.deleted_by} at {written(note.deleted_at)}.",
        code="note_deleted",
        deleted_by=note.deleted_by,
        deleted_at=written(note.deleted_at),
        sequence=note.sequence,
    )
