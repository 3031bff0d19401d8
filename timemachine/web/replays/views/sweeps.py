"""Sweeps: launch, progress, and the results as a table and a plot."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.pure.errors import TimeMachineError
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.sweeps import commands
from timemachine.replay.sweeps.queries import sweep_of, sweeps_of
from timemachine.replay.sweeps.schemas import SweepOut
from timemachine.replay.tasks import run_sweep
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.replays.forms.sweeps import SweepForm
from timemachine.web.replays.presenters.sweep_order import chosen, measure_of, ordered
from timemachine.web.replays.presenters.sweep_plot import sweep_plot

SHOWN_SWEEPS = 20


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/sweep/`: the form; POST launches."""
    access = of(request)
    access.require("operator")
    session = session_of(access.project, id)
    data = request.POST if request.method == "POST" else None
    form = SweepForm(session, data)
    status = 200 if data is None else 422
    if data is not None and form.is_valid():
        try:
            sweep = commands.launch(
                session, form.grid(), by=access.user.email, sweep_id=form.cleaned_data["form_id"]
            )
        except TimeMachineError as why:
            status = form.refuse(why)
        else:
            enqueue(run_sweep, sweep.id)
            return redirect("sweep", sweep.id)
    context = {"session": session, "form": form, "sweeps": sweeps_of(session)[:SHOWN_SWEEPS]}
    return render(request, "sweeps/launch.html", context, status=status)


@require_safe
def sweep(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sweeps/{id}/`: progress, and the results as they arrive. Polling gets 204 if nothing changed."""
    access = of(request)
    found = sweep_of(access.project, id)
    if request.GET.get("rev") == str(found.revision) and request.headers.get("HX-Request") == "true":
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
        "plot": sweep_plot(document.rows),
        "several_models": len({row.embedding_model for row in document.rows} - {None}) > 1,
        "may_run": access.may("operator"),
    }
    return page(request, "sweeps/sweep.html", context, parts=("progress",))


@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Cancel a sweep."""
    access = of(request)
    access.require("operator")
    commands.cancel(sweep_of(access.project, id))
    return redirect("sweep", id)
