"""Notes on the steps of a session over HTTP: add one, list them, delete one."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Status

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.core.pure.clock import written
from timemachine.recording.annotations.notes.commands import add, delete
from timemachine.recording.annotations.notes.queries import note_of, notes_after
from timemachine.recording.annotations.notes.schemas import NoteDeleted, NoteIn, NoteOut, NotePage
from timemachine.recording.sessions.queries import session_of

PATH = "/{session_id}/notes"


@routers.sessions.post(PATH, response={201: NoteOut}, summary="Pin a note to a step")
def make(request: HttpRequest, session_id: str, payload: NoteIn) -> Status[NoteOut]:
    """A sentence of 1 to 2,000 characters beside a step; the recorded session is not changed."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    return Status(201, NoteOut.of(add(session, payload.sequence, payload.text, by=who.by)))


@routers.sessions.get(PATH, response=NotePage, summary="The notes of a session")
def index(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> NotePage:
    """The session's notes by their steps, of one step the earliest first."""
    session = session_of(caller(request, "read").project, session_id)
    found = notes_after(session, None if after is None else paging.read(after, paging.identity))
    shown = found[: paging.checked_limit(limit) + 1]
    return paging.typed_page(NotePage, list(shown), limit, lambda note: [str(note.id)], NoteOut.of)


@routers.sessions.delete(f"{PATH}/{{uuid:note_id}}", response=NoteDeleted, summary="Delete a note")
def remove(request: HttpRequest, session_id: str, note_id: UUID) -> NoteDeleted:
    """Take a note's text away; who deleted it and when is kept. A key may delete what it wrote itself, one with `admin` any note."""
    who = caller(request, "record")
    note = note_of(session_of(who.project, session_id), note_id)
    gone = delete(note, by=who.by, administers="admin" in who.key.scopes)
    return NoteDeleted.model_construct(
        deleted=str(gone.id), deleted_at=written(gone.deleted_at), deleted_by=gone.deleted_by
    )
