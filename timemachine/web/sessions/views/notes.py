"""The notes of a session: the list, links to single notes, and deletion. Notes are added on the timeline."""

from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.annotations.notes.commands import delete as take_away
from timemachine.recording.annotations.notes.models import Note
from timemachine.recording.annotations.notes.queries import note_of, notes_after
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.redirects import back_to, see_other

PAGE: Final = 50


@require_safe
def notes(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/notes/`: all notes by step; `after` is the page cursor."""
    access = of(request)
    session = session_of(access.project, id)
    found = list(notes_after(session, _place(request.GET.get("after", "")))[: PAGE + 1])
    shown = found[:PAGE]
    context = {
        "session": session,
        "notes": shown,
        "next": shown[-1].id if len(found) > PAGE else None,
        "later": "after" in request.GET,
        "may_record": access.may(OPERATOR),
    }
    return page(request, "sessions/notes.html", context)


@never_cache
@require_safe
def note(request: HttpRequest, id: str, note: UUID) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/notes/{note}/`: redirect to the note on the page of its step."""
    session = session_of(of(request).project, id)
    return redirect(_address(note_of(session, note)))


@never_cache
@require_POST
def delete(request: HttpRequest, id: str, note: UUID) -> HttpResponse:  # noqa: A002
    """Delete a note, and redirect to its step."""
    access = of(request)
    access.require(OPERATOR)
    meant = note_of(session_of(access.project, id), note)
    try:
        take_away(meant, by=access.user.email, administers=access.administers)
        messages.success(request, f"Note on step {meant.sequence:,} deleted.")
    except Conflict as why:
        messages.error(request, why.message)
    back = back_to(request) if "next" in request.POST else _step(meant)
    return see_other(back, part="notes")


def _address(note: Note) -> str:
    return f"{_step(note)}#note-{note.id}"


def _step(note: Note) -> str:
    return reverse("timeline", args=[note.session_id], query={"step": note.sequence})


def _place(after: str) -> UUID | None:
    """Return the page cursor. Raises `InvalidInput` for an invalid one."""
    if not after:
        return None
    found = uuid_of(after)
    if found is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return found
