"""Notes as the API returns them."""

from django.conf import settings
from pydantic import Field

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.recording.annotations.notes.models import Note


class NoteIn(Strict):
    """A sentence to pin to a step."""

    sequence: int = Field(ge=1, lt=2**62)
    text: str


class NoteOut(Schema):
    """A note on a step: what it says, who wrote it and when (RFC 3339), and the address that always leads to it."""

    id: str
    sequence: int
    text: str
    created_at: str
    created_by: str
    url: str

    @classmethod
    def of(cls, note: Note) -> "NoteOut":
        address = f"{settings.PUBLIC_URL}/sessions/{note.session_id}/notes/{note.id}/"
        return cls.from_attributes(note, url=address)


class NotePage(Page[NoteOut]):
    """Notes of a session, by their steps."""


class NoteDeleted(Schema):
    """Which note was deleted, when and by whom."""

    deleted: str
    deleted_at: str | None
    deleted_by: str | None
