"""Start, end and delete a session from its pages."""

from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.postgres_text import is_plain
from timemachine.core.pure.safe_text import shown
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.evidence.tasks import seal_session
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of, collections_of
from timemachine.recording.answering.running_asks import wait_for_asks
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.sessions.branches import branch_count
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.holds import holds_on
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, of
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.sessions.forms.sessions import DeleteForm, SessionForm

MOST_CHOICES: Final = 200


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_session(request: HttpRequest) -> HttpResponse:
    """`/sessions/new/`: the form (`collection` preselects one); POST starts the session."""
    access = of(request)
    access.require(OPERATOR)
    asked = request.POST if request.method == "POST" else request.GET
    names = _collection_names(access, asked.get("collection", ""))
    if request.method != "POST":
        chosen = request.GET.get("collection", "")
        if chosen:
            collection_of(access.project, chosen)
        form = SessionForm(collections=names, initial={"collection": chosen})
        return _new_session_page(request, form)
    form = SessionForm(request.POST, collections=names)
    if not form.is_valid():
        return _new_session_page(request, form, status=422)
    try:
        session = _started(access, form.cleaned_data)
    except TimeMachineError as why:
        return _new_session_page(request, form, status=form.refuse(why))
    work = reverse("work", args=[session.id])
    messages.success(
        request, format_html('Session started. <a href="{}">Find, ask and put</a> to record steps.', work)
    )
    return see_other("timeline", session.id)


@never_cache
@require_POST
def end(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """End a session. Ending it twice has no further effect."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    wait_for_asks(session)
    ended = end_session(session.id)
    enqueue(seal_session, session.id)
    messages.success(request, f"Session ended with {counted(ended.last_sequence, 'step')}.")
    return see_other("timeline", ended.id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/delete/`: what is deleted with a session, or the holds that prevent it; POST deletes it if its name was typed."""
    access = of(request)
    access.require(ADMIN)
    session = session_of(access.project, id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    facts = {
        "session": session,
        "form": form,
        "summaries": remaining_summaries(session),
        "branches": branch_count(session),
        "held": holds_on(session),
    }
    if not form.is_bound:
        return page(request, "record/delete_session.html", facts)
    if form.is_valid() and not _names(session, form.cleaned_data["name"]):
        form.add_error("name", "This is not the session's name. Nothing was deleted.")
    if not form.is_valid():
        return page(request, "record/delete_session.html", facts, status=422)
    try:
        removed = erase_session(session, by=access.user.email, reason=form.cleaned_data["reason"])
    except (InvalidInput, Conflict) as why:
        return page(request, "record/delete_session.html", facts, status=form.refuse(why))
    messages.success(request, f"Session {shown(session.name)} deleted with its {counted(removed, 'step')}.")
    return see_other("sessions")


def _new_session_page(request: HttpRequest, form: SessionForm, *, status: int = 200) -> HttpResponse:
    facts = {"form": form, "server": settings.PUBLIC_URL}
    return page(request, "record/new_session.html", facts, status=status)


def _collection_names(access: Access, chosen: str) -> list[str]:
    """Return the collection names to choose from, including the chosen one."""
    mine = collections_of(access.project)
    names = list(mine.values_list("name", flat=True)[:MOST_CHOICES])
    missing = chosen and chosen not in names and is_plain(chosen) and mine.filter(name=chosen).exists()
    return [chosen, *names] if missing else names


@transaction.atomic
def _started(access: Access, said: dict[str, Any]) -> Session:
    """Start the session and create its collection if it is new, in one transaction."""
    return start_session(
        access.project,
        name=said["name"],
        by=access.user.email,
        key=said["key"] or None,
        agent=said["agent"] or None,
        user=access.user.email,
        collection=_collection(access, said),
    )


def _collection(access: Access, said: dict[str, Any]) -> Collection | None:
    if said["new_collection"]:
        return get_or_create_collection(access.project, said["new_collection"], by=access.user.email)
    return collection_of(access.project, said["collection"]) if said["collection"] else None


def _names(session: Session, written: str) -> bool:
    """Return whether the text is the session's name, as stored or as shown, or its key."""
    return written.strip() in {session.name.strip(), shown(session.name).strip(), session.key}
