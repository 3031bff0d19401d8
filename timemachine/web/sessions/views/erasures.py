"""Erase fields of a session: choose, preview, and confirm with a reason."""

from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse

from timemachine.core.accounts.models import ADMIN
from timemachine.governance.deletion.erasure import commands
from timemachine.governance.deletion.erasure.before_after import sample_of
from timemachine.governance.deletion.erasure.models import DONE, FOUND, Erasure
from timemachine.governance.deletion.erasure.queries import erasure_of, erasures_of
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.sessions.deletions import SummaryFrame, deletions_of
from timemachine.recording.sessions.holds import holds_on
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.text.redaction.queries import choices_of, profile_of
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.form_parts import sent
from timemachine.web.http import page, see_other
from timemachine.web.sessions.forms import ErasureReasonForm, FieldsForm, FindingsForm

SHOWN: Final = 20


@form_view(ADMIN, fresh=True)
def choose(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/erase-fields/`: choose by profile or by field (`step` fills one in); POST searches. Nothing is erased yet."""
    session = session_of(access.project, id)
    data = sent(request)
    by_profile = data is not None and "redaction" in data
    findings = FindingsForm(data if by_profile else None, choices=choices_of(access.project))
    fields = FieldsForm(None if by_profile else data)
    fields.initial["steps"] = request.GET.get("step", "")[:20]
    form = findings if by_profile else fields
    made = form.run(lambda: _next(_prepared(access, session, form)))
    if made is not None:
        return see_other("erasure", made.id)
    return page(
        request,
        "erasures/choose.html",
        status=form.http_status,
        session=session,
        findings=findings,
        fields=fields,
        held=holds_on(session),
        earlier=list(erasures_of(session)[:SHOWN]),
    )


@form_view(ADMIN, fresh=True)
def delete_turn(request: HttpRequest, access: Access, id: str, sequence: int) -> HttpResponse:
    """`/sessions/{id}/steps/{sequence}/delete/`: the effects of deleting a step, and the reason; or that it is deleted or on hold; POST deletes it permanently."""
    step = action_of(session_of(access.project, id), sequence)
    deletion = deletions_of(step.session, [sequence]).get(sequence)
    form = ErasureReasonForm(sent(request))
    done = form.run(
        lambda: commands.delete_turn(step, reason=form.cleaned_data["reason"], by=access.user.email)
    )
    if done is not None:
        return _after_turn(request, done)
    shown: dict[str, object] = {"session": step.session, "step": step, "form": form, "deleted": deletion}
    if deletion is None:
        shown |= {"held": holds_on(step.session), "summaries": _that_may_quote(step)}
    return page(request, "erasures/delete_step.html", shown, status=form.http_status)


def _that_may_quote(step: Action) -> list[SummaryFrame]:
    """Return the summaries that may quote a deleted step or a copy of it; only summaries newer than the step are considered."""
    session = step.session
    every = remaining_summaries(session)
    if every == remaining_summaries(session, since=step.sequence):
        return every
    return remaining_summaries(session, since=commands.first_touched(step))


def _after_turn(request: HttpRequest, done: Erasure) -> HttpResponse:
    if done.status != DONE:
        enqueue(run_erasure, done.id)
        return see_other("erasure", done.id)
    result: dict[str, Any] = done.result or {"steps": 1}
    facts = {"others": max(result["steps"] - 1, 0), "summaries": result.get("summaries")}
    messages.success(request, render_to_string("erasures/step_deleted.html", facts))
    return redirect(f"{reverse('timeline', args=[done.session_id])}?step={done.steps[0]}")


@get_view(ADMIN, fresh=True)
def erasure(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/erasures/{id}/`: what would be erased, and what was erased."""
    return _page(request, erasure_of(access.project, id), ErasureReasonForm())


@post_view(ADMIN)
def confirm(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Erase permanently what was found."""
    found, form = erasure_of(access.project, id), ErasureReasonForm(request.POST)
    done = form.run(
        lambda: _next(commands.confirm(found, reason=form.cleaned_data["reason"], by=access.user.email))
    )
    if done is None:
        return _page(request, erasure_of(access.project, id), form)
    if done.status == DONE:
        messages.success(request, "The content was erased permanently.")
    return see_other("erasure", done.id)


def _prepared(access: Access, session: Session, form: FindingsForm | FieldsForm) -> Erasure:
    by = access.user.email
    if isinstance(form, FindingsForm):
        return commands.prepare(
            session, by=by, profile=profile_of(access.project, form.cleaned_data["redaction"])
        )
    return commands.prepare(session, by=by, fields=form.chosen, steps=form.cleaned_data["steps"])


def _next(made: Erasure) -> Erasure:
    """Run the next stage: short sessions in the request, long ones in the background."""
    next_ = commands.work_if_short(made)
    if next_.is_under_way:
        enqueue(run_erasure, next_.id)
    return next_


def _page(request: HttpRequest, found: Erasure, form: ErasureReasonForm) -> HttpResponse:
    return page(
        request,
        "erasures/erasure.html",
        parts=("erasure",),
        status=form.http_status,
        erasure=found,
        session=found.session,
        content=found.result if found.status == DONE else found.preview,
        waits=found.is_under_way,
        reading=_reading_since(found),
        may_confirm=found.status == FOUND,
        done=found.status == DONE,
        sample=sample_of(found),
        held=holds_on(found.session) if found.status == FOUND else [],
        form=form,
    )


def _reading_since(found: Erasure) -> datetime | None:
    """Return since when the steps of the session are being read; None before and after that."""
    if not found.is_under_way or found.total is None or found.done >= found.total:
        return None
    return found.began_at
