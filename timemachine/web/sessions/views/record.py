"""Start, end and delete a session from its pages."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.postgres_text import is_plain
from timemachine.core.pure.safe_text import shown
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.evidence.tasks import seal_session
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.queries import collection_of, collections_of
from timemachine.recording.answering.running_asks import wait_for_asks
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.sessions.branches import branch_count
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.holds import holds_on
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, form_view, post_view
from timemachine.web.form_parts import sent
from timemachine.web.http import page, see_other
from timemachine.web.sessions.forms import DeleteForm, SessionForm

MOST_CHOICES: Final = 200


@form_view(OPERATOR, fresh=True)
def new_session(request: HttpRequest, access: Access) -> HttpResponse:
    """`/sessions/new/`: the form (`collection` preselects one); POST starts the session."""
    chosen = request.GET.get("collection", "")
    if request.method == "POST":
        chosen = request.POST.get("collection", "")
    elif chosen:
        collection_of(access.project, chosen)
    names = _collection_names(access, chosen)
    form = SessionForm(sent(request), collections=names, initial={"collection": chosen})
    session = form.run(lambda: _started(access, form.cleaned_data))
    if session is None:
        return page(
            request,
            "record/new_session.html",
            form=form,
            server=settings.PUBLIC_URL,
            status=form.http_status,
        )
    messages.success(request, render_to_string("record/started.html", {"session": session}))
    return see_other("timeline", session.id)


@post_view(OPERATOR)
def end(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """End a session. Ending it twice has no further effect."""
    session = session_of(access.project, id)
    wait_for_asks(session)
    ended = end_session(session.id)
    enqueue(seal_session, session.id)
    messages.success(request, f"Session ended with {counted(ended.last_sequence, 'step')}.")
    return see_other("timeline", ended.id)


@form_view(ADMIN, fresh=True)
def delete(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/delete/`: what is deleted with a session, or the holds that prevent it; POST deletes it if its name was typed."""
    session = session_of(access.project, id)
    form = DeleteForm(sent(request), session=session)
    if form.is_valid():
        try:
            removed = erase_session(session, by=access.user.email, reason=form.cleaned_data["reason"])
        except (InvalidInput, Conflict) as why:
            form.refuse(why)
        else:
            messages.success(
                request, f"Session {shown(session.name)} deleted with its {counted(removed, 'step')}."
            )
            return see_other("sessions")
    return page(
        request,
        "record/delete_session.html",
        status=form.http_status,
        session=session,
        form=form,
        summaries=remaining_summaries(session),
        branches=branch_count(session),
        held=holds_on(session),
    )


def _collection_names(access: Access, chosen: str) -> list[str]:
    """Return the collection names to choose from, including the chosen one."""
    mine = collections_of(access.project)
    names = list(mine.values_list("name", flat=True)[:MOST_CHOICES])
    missing = chosen and chosen not in names and is_plain(chosen) and mine.filter(name=chosen).exists()
    return [chosen, *names] if missing else names


@transaction.atomic
def _started(access: Access, said: Mapping[str, Any]) -> Session:
    """Start the session and create its collection if it is new, in one transaction."""
    collection = None
    if said["new_collection"]:
        collection = get_or_create_collection(access.project, said["new_collection"], by=access.user.email)
    elif said["collection"]:
        collection = collection_of(access.project, said["collection"])
    return start_session(
        access.project,
        name=said["name"],
        by=access.user.email,
        key=said["key"] or None,
        agent=said["agent"] or None,
        user=access.user.email,
        collection=collection,
    )
