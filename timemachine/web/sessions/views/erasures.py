"""Erase fields of a session: choose, preview, and confirm with a reason."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.governance.deletion.erasure import commands
from timemachine.governance.deletion.erasure.models import DONE, ERASING, FOUND, LOOKING, Erasure
from timemachine.governance.deletion.erasure.queries import erasure_of, erasures_of
from timemachine.governance.deletion.erasure.sample import sample_of
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.sessions.deletions import SummaryFrame, deletions_of
from timemachine.recording.sessions.holds import holds_on
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.text.redaction.queries import choices_of, profile_of
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.sessions.forms.erasures import FieldsForm, FindingsForm, ReasonForm

SHOWN: Final = 20


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/erase-fields/`: choose by profile or by field (`step` fills one in); POST searches. Nothing is erased yet."""
    who = access.of(request)
    who.require(ADMIN)
    session = session_of(who.project, id)
    data = request.POST if request.method == "POST" else None
    by_profile = data is not None and "redaction" in data
    findings = FindingsForm(data if by_profile else None, choices=choices_of(who.project))
    fields = FieldsForm(data if data is not None and not by_profile else None)
    fields.initial["steps"] = request.GET.get("step", "")[:20]
    status = 200
    if data is not None:
        form = findings if by_profile else fields
        status = 422
        if form.is_valid():
            try:
                return see_other("erasure", _next(_prepared(who, session, form)).id)
            except TimeMachineError as why:
                status = form.refuse(why)
    shown = {"session": session, "findings": findings, "fields": fields, "held": holds_on(session)}
    return page(request, "erasures/choose.html", shown | _earlier(session), status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_turn(request: HttpRequest, id: str, sequence: int) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/steps/{sequence}/delete/`: the effects of deleting a step, and the reason; or that it is deleted or on hold; POST deletes it permanently."""
    who = access.of(request)
    who.require(ADMIN)
    step = action_of(session_of(who.project, id), sequence)
    gone = deletions_of(step.session, [sequence]).get(sequence)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        status = 422
        if form.is_valid():
            try:
                done = commands.delete_turn(step, reason=form.cleaned_data["reason"], by=who.user.email)
                return _after_turn(request, done)
            except TimeMachineError as why:
                status = form.refuse(why)
    shown = {"session": step.session, "step": step, "form": form, "deleted": gone}
    if gone is None:
        shown |= {"held": holds_on(step.session), "summaries": _that_may_quote(step)}
    return page(request, "erasures/delete_step.html", shown, status=status)


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
    others = result["steps"] - 1
    repeated = (
        f" {counted(others, 'other step')} repeated its text, which was deleted there too."
        if others > 0
        else ""
    )
    said = f"Step deleted. A tombstone records who, when and why.{repeated}"
    if stays := result.get("summaries"):
        frames = render_to_string("erasures/summaries.html", {"summaries": stays})
        said = format_html("{} These summaries may quote it and stay: {}", said, frames)
    messages.success(request, said)
    return redirect(f"{reverse('timeline', args=[done.session_id])}?step={done.steps[0]}")


@never_cache
@require_safe
def erasure(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/erasures/{id}/`: what would be erased, and what was erased."""
    who = access.of(request)
    who.require(ADMIN)
    return _page(request, erasure_of(who.project, id), ReasonForm())


@never_cache
@require_POST
def confirm(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Erase permanently what was found."""
    who = access.of(request)
    who.require(ADMIN)
    found, form = erasure_of(who.project, id), ReasonForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    try:
        done = _next(commands.confirm(found, reason=form.cleaned_data["reason"], by=who.user.email))
    except TimeMachineError as why:
        return _page(request, erasure_of(who.project, id), form, status=form.refuse(why))
    if done.status == DONE:
        messages.success(request, "The content was erased permanently.")
    return see_other("erasure", done.id)


def _prepared(who: Access, session: Session, form: FindingsForm | FieldsForm) -> Erasure:
    by = who.user.email
    if isinstance(form, FindingsForm):
        return commands.prepare(
            session, by=by, profile=profile_of(who.project, form.cleaned_data["redaction"])
        )
    return commands.prepare(session, by=by, fields=form.chosen, steps=form.cleaned_data["steps"])


def _next(made: Erasure) -> Erasure:
    """Run the next stage: short sessions in the request, long ones in the background."""
    if commands.fits_in_a_request(made):
        return commands.work(made.id) or made
    enqueue(run_erasure, made.id)
    return made


def _earlier(session: Session) -> dict[str, Any]:
    return {"earlier": list(erasures_of(session)[:SHOWN])}


def _page(request: HttpRequest, found: Erasure, form: ReasonForm, *, status: int = 200) -> HttpResponse:
    shown = {
        "erasure": found,
        "session": found.session,
        "content": found.result if found.status == DONE else found.preview,
        "waits": found.status in (LOOKING, ERASING),
        "may_confirm": found.status == FOUND,
        "done": found.status == DONE,
        "sample": sample_of(found),
        "held": holds_on(found.session) if found.status == FOUND else [],
        "form": form,
    }
    return page(request, "erasures/erasure.html", shown, parts=("erasure",), status=status)
