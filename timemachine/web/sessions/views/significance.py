"""The significance page of a session: suggestions, changes, compression and summaries."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import counted, whole_number
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.queries import model_choices
from timemachine.memory.transcripts.compressing import compression_effect
from timemachine.memory.transcripts.proposing import accept, decline, proposals_for
from timemachine.memory.transcripts.summarising import summaries_of
from timemachine.memory.transcripts.summarising import summarise as summed_up
from timemachine.recording.annotations.significance import compression
from timemachine.recording.annotations.significance.queries import (
    changes_before,
    compression_of,
    compressions_of,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, of
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.sessions.forms.summaries import SummaryForm
from timemachine.web.settings.forms.compression import CompressionForm
from timemachine.web.settings.views import settings

PAGE: Final = 50
SHOWN_COMPRESSIONS: Final = 10
SHOWN_SUMMARIES: Final = 3


@never_cache
@require_safe
def significance(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/significance/`: suggestions, compression, and changes, latest first; `after` is the page cursor."""
    access = of(request)
    session = session_of(access.project, id)
    form = _summary_form(access, session) if access.may(OPERATOR) else None
    return _page(request, access, session, form)


@never_cache
@require_POST
def answer(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Accept or dismiss a suggestion."""
    access = of(request)
    access.require(OPERATOR)
    session, said = session_of(access.project, id), request.POST
    step, rule = whole_number(said.get("step", "")) or 0, said.get("rule", "")
    try:
        if said.get("answer") == "yes":
            accept(session, step, rule, by=access.user.email)
            messages.success(request, f"Suggestion for step {step:,} accepted.")
        elif said.get("answer") == "no":
            decline(session, step, rule, by=access.user.email)
            messages.success(request, f"Suggestion for step {step:,} dismissed.")
    except (Conflict, NotFound) as why:
        messages.error(request, why.message)
    return see_other("significance", session.id)


@never_cache
@require_POST
def compress(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Compress the session, or undo the compression."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    try:
        if request.POST.get("do") == "undo":
            compression.undo(session, by=access.user.email)
            messages.success(request, "Compression undone. Every step has its previous importance again.")
        else:
            compression.compress(session, by=access.user.email)
            messages.success(request, "Session compressed.")
    except (Conflict, NotFound) as why:
        messages.error(request, why.message)
        return see_other("significance", session.id)
    return see_other("significance", session.id, part="compression")


@never_cache
@require_POST
def summarise(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Store a summary of the session in a collection."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    form = _summary_form(access, session, request.POST)
    if not form.is_valid():
        return _page(request, access, session, form, status=422)
    try:
        made = summed_up(
            session,
            by=access.user.email,
            collection=form.cleaned_data["collection"],
            use_model=form.use_model,
        )
    except TimeMachineError as why:
        return _page(request, access, session, form, status=form.refuse(why))
    enqueue(embed_backlog, made.collection_id)
    messages.success(request, f"Summary stored as frame {made.number:,} of {made.collection.name}.")
    return see_other("significance", session.id, part="summary")


@never_cache
@require_POST
def rule(request: HttpRequest) -> HttpResponse:
    """Set the number of days after which the project's sessions are compressed; empty for never."""
    access = of(request)
    access.require(ADMIN)
    form = CompressionForm(request.POST)
    if not form.is_valid():
        return settings.page(request, access, status=422, compression_form=form)
    days = form.cleaned_data["days"]
    compression.set_rule(access.project, days, by=access.user.email)
    messages.success(
        request,
        "Sessions are not compressed automatically."
        if days is None
        else f"Sessions are compressed {counted(days, 'day')} after their end.",
    )
    return see_other("settings", part="compression")


def _page(
    request: HttpRequest, access: Access, session: Session, form: SummaryForm | None, *, status: int = 200
) -> HttpResponse:
    found = list(changes_before(session, _place(request.GET.get("after", "")))[: PAGE + 1])
    shown = found[:PAGE]
    context: dict[str, Any] = {
        "session": session,
        "proposed": proposals_for(session),
        "changes": shown,
        "next": shown[-1].id if len(found) > PAGE else None,
        "later": "after" in request.GET,
        "compression": compression_of(session),
        "compressions": compressions_of(session)[:SHOWN_COMPRESSIONS],
        "effect": compression_effect(session),
        "may_record": access.may(OPERATOR),
        "summaries": summaries_of(session)[:SHOWN_SUMMARIES],
        "summary_form": form,
    }
    return page(request, "sessions/significance.html", context, status=status)


def _summary_form(access: Access, session: Session, data: Any = None) -> SummaryForm:
    return SummaryForm(data, session=session, models=model_choices(access.project.pk))


def _place(after: str) -> UUID | None:
    if not after:
        return None
    found = uuid_of(after)
    if found is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return found
