"""What changes in notes: one is added to a step, one is deleted. The recorded session stays as it is."""

from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed, NotFound
from timemachine.core.pure.ids import uuid7
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import deleted, notes_at
from timemachine.recording.sessions.holds import require_free
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import action_of

MOST_AT_A_STEP: Final = 100


def add(session: Session, sequence: int, text: str, *, by: str, note_id: UUID | None = None) -> Note:
    """Pin a sentence to a step: 1 to `LONGEST_TEXT` characters, kept as they are.

    The same note with the same `note_id` again is the note that stands already. Raises `NotFound` for a step that there is
    not, `InvalidInput` for a text that cannot be one, `Conflict` where the step has `MOST_AT_A_STEP` notes.
    """
    step = action_of(session, sequence).sequence
    _check(text)
    author = by[:254]
    try:
        with transaction.atomic():
            _check_room(session, step, note_id)
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
        kept = None if note_id is None else Note.objects.filter(id=note_id).first()
        if kept is None:
            raise NotFound(
                "The session was deleted while the note was written.", code="session_not_found"
            ) from why
        if (kept.session_id, kept.sequence, kept.text, kept.created_by) == (session.id, step, text, author):
            return kept
    return add(session, sequence, text, by=by)  # the id is another note's


@transaction.atomic
def delete(note: Note, *, by: str, administers: bool) -> Note:
    """Take a note's text away; who deleted it and when is kept. Its author may, and whoever administers the project.

    Raises `NotAllowed` for anybody else, `NotFound` where it is deleted already, `Conflict` (`on_hold`) in a session under legal hold.
    """
    session = Session.objects.select_for_update(no_key=True).filter(pk=note.session_id).first()
    kept = Note.objects.select_for_update().filter(id=note.id).first()
    if session is None or kept is None:
        raise NotFound("This session has no such note.", code="note_not_found")
    if kept.deleted_at is not None:
        raise deleted(kept)
    if not may_delete(kept, by=by, administers=administers):
        raise NotAllowed(
            "Only its author or an administrator of the project may delete a note.", code="not_your_note"
        )
    require_free(session)
    kept.text, kept.deleted_by, kept.deleted_at = "", by[:254], now()
    kept.save(update_fields=["text", "deleted_by", "deleted_at"])
    return kept


def may_delete(note: Note, *, by: str, administers: bool) -> bool:
    """Whether this person or program may delete the note."""
    return administers or note.created_by == by[:254]


def _check(text: str) -> None:
    if not text.strip():
        raise InvalidInput("Write what is to be remembered of this step.", code="invalid_field", field="text")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"A note has at most {LONGEST_TEXT:,} characters, and this one has {len(text):,}; shorten it, or write two.",
            code="invalid_field",
            field="text",
        )


def _check_room(session: Session, sequence: int, note_id: UUID | None) -> None:
    """All notes of a step are on its page. Two that come at the same moment may be one too many, which harms nobody."""
    if notes_at(session, sequence).exclude(id=note_id or uuid7()).count() >= MOST_AT_A_STEP:
        raise Conflict(
            f"This step has {MOST_AT_A_STEP} notes, which is all it can hold; write into one of the steps beside it.",
            code="too_many_notes",
            field="text",
        )
