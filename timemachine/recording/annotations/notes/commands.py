"""Add a note to a step, or delete one. The recorded session does not change."""

from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed, NotFound
from timemachine.core.pure.ids import uuid7
from timemachine.core.row_security import rows_of_every_project
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import note_deleted, notes_at
from timemachine.recording.sessions.holds import require_no_hold
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import action_of

MOST_AT_A_STEP: Final = 100


def add(session: Session, sequence: int, text: str, *, by: str, note_id: UUID | None = None) -> Note:
    """Add a note to a step: 1 to `LONGEST_TEXT` characters, stored as they are.

    Repeating the same note with the same `note_id` returns the existing note. Raises `NotFound` for an unknown step,
    `InvalidInput` for an invalid text, `Conflict` if the step has `MOST_AT_A_STEP` notes.
    """
    step = action_of(session, sequence).sequence
    _check(text)
    author = by[:254]
    try:
        with transaction.atomic():
            _check_limit(session, step, note_id)
            return Note.objects.create(
                id=note_id or uuid7(),
                project_id=session.project_id,
                session=session,
                sequence=step,
                text=text,
                created_by=author,
                created_at=now(),
            )
    except IntegrityError as why:
        with rows_of_every_project():
            stored = None if note_id is None else Note.objects.filter(id=note_id).first()
        if stored is None:
            raise NotFound(
                "The session was deleted while the note was written.", code="session_not_found"
            ) from why
        sent = (session.id, step, text, author)
        if (stored.session_id, stored.sequence, stored.text, stored.created_by) == sent:
            return stored
    return add(session, sequence, text, by=by)  # the id belongs to another note


@transaction.atomic
def delete(note: Note, *, by: str, administers: bool) -> Note:
    """Delete a note's text; who deleted it and when is kept. Its author and administrators of the project may delete it.

    Raises `NotAllowed` for anyone else, `NotFound` if it is already deleted, `Conflict` (`on_hold`) in a session
    under legal hold.
    """
    session = Session.objects.select_for_update(no_key=True).filter(pk=note.session_id).first()
    stored = Note.objects.select_for_update().filter(id=note.id).first()
    if session is None or stored is None:
        raise NotFound("This session has no such note.", code="note_not_found")
    if stored.deleted_at is not None:
        raise note_deleted(stored)
    if not may_delete(stored, by=by, administers=administers):
        raise NotAllowed(
            "Only the author or an administrator of the project can delete a note.", code="not_your_note"
        )
    require_no_hold(session)
    stored.text, stored.deleted_by, stored.deleted_at = "", by[:254], now()
    stored.save(update_fields=["text", "deleted_by", "deleted_at"])
    return stored


def may_delete(note: Note, *, by: str, administers: bool) -> bool:
    """Return whether this person or API key may delete the note."""
    return administers or note.created_by == by[:254]


def _check(text: str) -> None:
    if not text.strip():
        raise InvalidInput("A note needs some text.", code="invalid_field", field="text")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"The note has {len(text):,} characters; the maximum is {LONGEST_TEXT:,}. Shorten it or write two notes.",
            code="invalid_field",
            field="text",
        )


def _check_limit(session: Session, sequence: int, note_id: UUID | None) -> None:
    """All notes of a step are shown on its page. Two added at the same moment may exceed the limit by one, which is harmless."""
    if notes_at(session, sequence).exclude(id=note_id or uuid7()).count() >= MOST_AT_A_STEP:
        raise Conflict(
            f"This step already has {MOST_AT_A_STEP} notes, the maximum. Add the note to a nearby step.",
            code="too_many_notes",
            field="text",
        )
