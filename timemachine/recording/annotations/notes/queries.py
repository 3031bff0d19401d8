"""What we ask of notes: those of a session, of a stretch of it, of one step. A deleted one is in none of these."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.recording.annotations.notes.models import LIVE, Note
from timemachine.recording.sessions.models import Session

ORDER: Final = ("sequence", "id")


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
        raise InvalidInput(
            "This list does not know that place; open it from its first page.", code="unknown_after"
        )
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
    found = notes_of(session).filter(sequence__in=sequences).order_by()
    return dict(found.values_list("sequence").annotate(number=Count("id")))


def noted_steps(session: Session, first: int, last: int, limit: int) -> list[int]:
    """The first steps from `first` to `last` that have a note, each once, at most `limit`. One query."""
    found = notes_of(session).filter(sequence__range=(first, last)).order_by("sequence")
    return list(found.values_list("sequence", flat=True).distinct()[:limit])


def deleted(note: Note) -> NotFound:
    """What to raise for a note that was deleted."""
    return NotFound(
        f"This note was deleted by {note.deleted_by} at {written(note.deleted_at)}.",
        code="note_deleted",
        deleted_by=note.deleted_by,
        deleted_at=written(note.deleted_at),
        sequence=note.sequence,
    )
