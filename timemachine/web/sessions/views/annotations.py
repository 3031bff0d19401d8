"""What people add to a session: notes, significance, compression and summaries, and the verdicts of judge models on its answers."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import Conflict, NotFound, TimeMachineError
from timemachine.core.pure.numbers import money, whole_number
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.queries import model_choices
from timemachine.memory.transcripts.proposing import accept, decline, proposals_for
from timemachine.memory.transcripts.summarising import EXTRACTIVE, summaries_of
from timemachine.memory.transcripts.summarising import summarise as summed_up
from timemachine.memory.transcripts.transcript import compression_effect
from timemachine.recording.annotations.notes.commands import delete as take_away
from timemachine.recording.annotations.notes.models import Note
from timemachine.recording.annotations.notes.queries import note_of, notes_after
from timemachine.recording.annotations.significance import compression
from timemachine.recording.annotations.significance.queries import (
    changes_before,
    compression_of,
    compressions_of,
)
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.replay.judging.cancellation import cancel
from timemachine.replay.judging.commands import judge as judged_by
from timemachine.replay.judging.models import DONE, Judgement
from timemachine.replay.judging.queries import judgement_of
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.http import back_to, first_rows, page, place_after, see_other
from timemachine.web.sessions.forms import SummaryForm
from timemachine.web.sessions.presenters.judging import JudgeForm, JudgingNote, leave_note

PAGE: Final = 50
SHOWN_COMPRESSIONS: Final = 10
SHOWN_SUMMARIES: Final = 3


@get_view()
def notes(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/notes/`: all notes by step; `after` is the page cursor."""
    session = session_of(access.project, id)
    shown, last = first_rows(notes_after(session, place_after(request)), PAGE)
    context = {
        "session": session,
        "notes": shown,
        "next": last and last.id,
        "later": "after" in request.GET,
        "may_record": access.may(OPERATOR),
    }
    return page(request, "sessions/notes.html", context)


@get_view(fresh=True)
def note(_request: HttpRequest, access: Access, id: str, note: UUID) -> HttpResponse:
    """`/sessions/{id}/notes/{note}/`: redirect to the note on the page of its step."""
    session = session_of(access.project, id)
    found = note_of(session, note)
    return redirect(f"{_step(found)}#note-{found.id}")


@post_view(OPERATOR)
def delete(request: HttpRequest, access: Access, id: str, note: UUID) -> HttpResponse:
    """Delete a note, and redirect to its step."""
    meant = note_of(session_of(access.project, id), note)
    try:
        take_away(meant, by=access.user.email, administers=access.administers)
        messages.success(request, f"Note on step {meant.sequence:,} deleted.")
    except Conflict as why:
        messages.error(request, page_message(why))
    back = back_to(request) if "next" in request.POST else _step(meant)
    return see_other(back, part="notes")


def _step(note: Note) -> str:
    return reverse("timeline", args=[note.session_id], query={"step": note.sequence})


@post_view(OPERATOR)
def judge(request: HttpRequest, access: Access, id: str, sequence: int) -> HttpResponse:
    """Ask the chosen judge model, and show its verdict next to the others."""
    session = session_of(access.project, id)
    action = action_of(session, sequence)
    form = JudgeForm(request.POST, models=())
    form.is_valid()
    try:
        made = judged_by(
            action, use_model=form.chosen_model, by=access.user.email, judgement_id=form.judgement_id
        )
        note = _note(action, made)
    except TimeMachineError as why:
        note = _failed(action, form.chosen_model, page_message(why))
    return _shown(request, action, note)


@post_view(OPERATOR)
def cancel_judgement(
    request: HttpRequest, access: Access, id: str, sequence: int, judgement: UUID
) -> HttpResponse:
    """Cancel a running judgement."""
    session = session_of(access.project, id)
    action = action_of(session, sequence)
    found = judgement_of(action, judgement)
    note = JudgingNote(text="The judgement is being cancelled. Reload the page to see its result.")
    try:
        cancel(found)
    except TimeMachineError as why:
        note = JudgingNote(text=page_message(why), bad=True)
    return _shown(request, action, note)


def _shown(request: HttpRequest, action: Action, note: JudgingNote) -> HttpResponse:
    """Redirect to the step and leave the result there: judging takes long, and people visit other pages in the meantime."""
    leave_note(request, action, note)
    page = reverse("timeline", args=[action.session_id], query={"step": action.sequence})
    return see_other(page, part="judgements")


def _note(action: Action, made: Judgement) -> JudgingNote:
    if made.state != DONE:
        return _failed(action, made.model, made.error_message or "The judge model failed.")
    cost = "its cost is unknown" if made.cost_usd is None else f"it cost {money(made.cost_usd)}"
    return JudgingNote(text=f"{made.model} has judged the answer; {cost}.")


def _failed(action: Action, judge: str, why: str) -> JudgingNote:
    where = f"Step {action.sequence:,} of {action.session.name}"
    return JudgingNote(text=f"{where} was not judged{f' by {judge}' if judge else ''}: {why}", bad=True)


@get_view(fresh=True)
def significance(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/significance/`: suggestions, compression, and changes, latest first; `after` is the page cursor."""
    session = session_of(access.project, id)
    form = _summary_form(access, session) if access.may(OPERATOR) else None
    return _page(request, access, session, form)


@post_view(OPERATOR)
def answer(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Accept or dismiss a suggestion."""
    session, data = session_of(access.project, id), request.POST
    step, rule = whole_number(data.get("step", "")) or 0, data.get("rule", "")
    try:
        if data.get("answer") == "yes":
            accept(session, step, rule, by=access.user.email)
            messages.success(request, f"Suggestion for step {step:,} accepted.")
        elif data.get("answer") == "no":
            decline(session, step, rule, by=access.user.email)
            messages.success(request, f"Suggestion for step {step:,} dismissed.")
    except (Conflict, NotFound) as why:
        messages.error(request, page_message(why))
    return see_other("significance", session.id)


@post_view(OPERATOR)
def compress(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Compress the session, or undo the compression."""
    session = session_of(access.project, id)
    try:
        if request.POST.get("do") == "undo":
            compression.undo(session, by=access.user.email)
            messages.success(request, "Compression undone. Every step has its previous importance again.")
        else:
            compression.compress(session, by=access.user.email)
            messages.success(request, "Session compressed.")
    except (Conflict, NotFound) as why:
        messages.error(request, page_message(why))
        return see_other("significance", session.id)
    return see_other("significance", session.id, part="compression")


@post_view(OPERATOR)
def summarise(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Store a summary of the session in a collection."""
    session = session_of(access.project, id)
    form = _summary_form(access, session, request.POST)
    made = form.run(
        lambda: summed_up(
            session,
            by=access.user.email,
            collection=form.cleaned_data["collection"],
            use_model=form.chosen_model or EXTRACTIVE,
        )
    )
    if made is None:
        return _page(request, access, session, form)
    enqueue(embed_backlog, made.collection_id)
    messages.success(request, f"Summary stored as frame {made.number:,} of {made.collection.name}.")
    return see_other("significance", session.id, part="summary")


def _page(request: HttpRequest, access: Access, session: Session, form: SummaryForm | None) -> HttpResponse:
    shown, last = first_rows(changes_before(session, place_after(request)), PAGE)
    return page(
        request,
        "sessions/significance.html",
        status=form.http_status if form else 200,
        session=session,
        proposed=proposals_for(session),
        changes=shown,
        next=last and last.id,
        later="after" in request.GET,
        compression=compression_of(session),
        compressions=compressions_of(session)[:SHOWN_COMPRESSIONS],
        effect=compression_effect(session),
        may_record=access.may(OPERATOR),
        summaries=summaries_of(session)[:SHOWN_SUMMARIES],
        summary_form=form,
    )


def _summary_form(access: Access, session: Session, data: Any = None) -> SummaryForm:
    return SummaryForm(data, session=session, models=model_choices(access.project.pk))
