"""Queries about notes: of a session, of a range of it, of one step. Deleted notes are in none of these."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core import prepared_statements
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.recording.annotations.notes.models import LIVE, Note
from timemachine.recording.sessions.models import Session

_LIVE: Final = "FROM tm_note WHERE session_id = %(session)s AND deleted_at IS NULL"
_COUNTS: Final = f"SELECT sequence, count(*) {_LIVE} AND sequence = ANY(%(sequences)s) GROUP BY sequence"
_NOTED: Final = f"""
SELECT DISTINCT sequence {_LIVE} AND sequence BETWEEN %(first)s AND %(last)s ORDER BY sequence LIMIT %(limit)s
"""


def notes_of(session: Session) -> QuerySet[Note]:
    """Return the session's notes ordered by step and age."""
    return Note.objects.filter(LIVE, session=session).order_by("sequence", "id")


def notes_at(session: Session, sequence: int) -> QuerySet[Note]:
    """Return the notes of one step, the earliest first."""
    return notes_of(session).filter(sequence=sequence)


def notes_after(session: Session, after: UUID | None) -> QuerySet[Note]:
    """Return the session's notes after the one with that id, even if it has been deleted; without an id, all of them.

    Raises `InvalidInput` if this session never had such a note. One additional query.
    """
    if after is None:
        return notes_of(session)
    sequence = Note.objects.filter(session=session, id=after).values_list("sequence", flat=True).first()
    if sequence is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return notes_of(session).filter(Q(sequence__gt=sequence) | Q(sequence=sequence, id__gt=after))


def note_of(session: Session, note_id: UUID) -> Note:
    """Return the session's note with that id. Raises `NotFound`; if it was deleted, the error says by whom and when."""
    found = Note.objects.filter(session=session, id=note_id).first()
    if found is None:
        raise NotFound("This session has no such note.", code="note_not_found")
    if found.deleted_at is not None:
        raise note_deleted(found)
    return found


def note_counts(session: Session, sequences: Collection[int]) -> dict[int, int]:
    """Return the number of notes of each of these steps, without those that have none. One query."""
    facts = {"session": session.id, "sequences": list(sequences)}
    return dict(prepared_statements.fetch_rows(_COUNTS, facts))


def noted_steps(session: Session, first: int, last: int, limit: int) -> list[int]:
    """Return the first steps from `first` to `last` that have a note, at most `limit`. One query."""
    facts = {"session": session.id, "first": first, "last": last, "limit": limit}
    return [sequence for (sequence,) in prepared_statements.fetch_rows(_NOTED, facts)]


def note_deleted(note: Note) -> NotFound:
    """Return the error for a note that was deleted."""
    return NotFound(
        f"This note was deleted by {note.deleted_by} at {written(note.deleted_at)}.",
        code="note_deleted",
        deleted_by=note.deleted_by,
        deleted_at=written(note.deleted_at),
        sequence=note.sequence,
    )
