"""Sweeps: launch, progress, and the results as a table and a plot."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from timemachine.core.accounts.models import OPERATOR
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.estimate import without_calls
from timemachine.replay.sweeps import commands
from timemachine.replay.sweeps.queries import sweep_of, sweeps_of
from timemachine.replay.sweeps.schemas import SweepOut
from timemachine.replay.tasks import run_sweep
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.estimates import Estimate, estimate_alone, is_estimating
from timemachine.web.form_parts import sent
from timemachine.web.http import is_unchanged, page
from timemachine.web.replays.forms.replays import SweepForm
from timemachine.web.replays.presenters.sweep_plot import chosen, finding_of, measure_of, ordered, sweep_plot

SHOWN_SWEEPS = 20


@form_view(OPERATOR)
def launch(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/sweep/`: the form; POST launches, or with `estimate` shows what it takes."""
    session = session_of(access.project, id)
    form = SweepForm(session, sent(request))
    if is_estimating(request):
        estimated = form.run(lambda: _estimate(session, form))
        return estimate_alone(request, form, estimated) or _form(request, session, form, estimated=estimated)
    made = form.run(
        lambda: commands.launch(
            session, form.grid(), by=access.user.email, sweep_id=form.cleaned_data["form_id"]
        )
    )
    if made is not None:
        enqueue(run_sweep, made.id)
        return redirect("sweep", made.id)
    return _form(request, session, form)


def _estimate(session: Session, form: SweepForm) -> Estimate:
    _, settings, steps = commands.planned(session, form.grid())
    facts = [("Settings", len(settings)), ("Searches", len(settings) * len(steps))]
    return Estimate(found=[without_calls(len(steps))], facts=facts)


def _form(
    request: HttpRequest, session: Session, form: SweepForm, *, estimated: Estimate | None = None
) -> HttpResponse:
    return page(
        request,
        "sweeps/launch.html",
        session=session,
        form=form,
        estimated=estimated,
        sweeps=sweeps_of(session)[:SHOWN_SWEEPS],
        status=form.http_status,
    )


@get_view()
def sweep(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sweeps/{id}/`: progress, and the results as they arrive. Polling gets 204 if nothing changed."""
    found = sweep_of(access.project, id)
    if is_unchanged(request, found.revision):
        return HttpResponse(status=204)
    document = SweepOut.of(found)
    order = chosen(request.GET.get("sort", ""))
    context = {
        "sweep": found,
        "session": found.session,
        "document": document,
        "rows": ordered(document.rows, order),
        "order": order,
        "orders": [
            ("best", f"{measure_of(document.rows)}, then fewest tokens"),
            ("tokens", "fewest tokens"),
            ("number", "number"),
        ],
        "finding": finding_of(document.rows, finished=found.finished_at is not None),
        "plot": sweep_plot(document.rows),
        "several_models": len({row.embedding_model for row in document.rows} - {None}) > 1,
        "may_run": access.may(OPERATOR),
    }
    return page(request, "sweeps/sweep.html", context, parts=("progress",))


@post_view(OPERATOR)
def cancel(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Cancel a sweep."""
    commands.cancel(sweep_of(access.project, id))
    return redirect("sweep", id)
