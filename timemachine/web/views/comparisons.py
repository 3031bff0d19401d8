"""Comparisons: the list, the launch form, the matrix with what it shows, one cell, and all of it as a file."""

import json
from typing import Any, Final

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound, TimeMachineError
from timemachine.base.ids import uuid_of
from timemachine.base.numbers import whole_number
from timemachine.comparison import commands
from timemachine.comparison.arms import RECORDING
from timemachine.comparison.document import METHOD, cells_csv, cells_json, whole_json
from timemachine.comparison.estimate import estimates
from timemachine.comparison.findings import Findings, findings
from timemachine.comparison.metrics import MEASURES
from timemachine.comparison.models import Comparison
from timemachine.comparison.opinions import ask_judge, cancel_judges, judged_cells
from timemachine.comparison.queries import (
    Progress,
    arms_of,
    asks_of,
    cell_step,
    comparison_of,
    comparisons_of,
    history_of,
    opinions_of,
    progress_of,
    replays_of,
    sessions_of,
)
from timemachine.jobs import ring, ring_judges
from timemachine.providers.queries import model_choices
from timemachine.recording.models import Action, Session
from timemachine.web.access import Access, of
from timemachine.web.comparison_charts import charts
from timemachine.web.comparison_findings import shown_pair
from timemachine.web.comparison_forms import SHOWN_ARMS, ComparisonForm, JudgeForm, MarkForm
from timemachine.web.comparison_matrix import Wanted, column_names, matrix, wanted
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.side_by_side import side_by_side

SHOWN: Final = 50
OFFERED: Final = 20


@require_safe
def comparisons(request: HttpRequest) -> HttpResponse:
    """`/comparisons/`: the project's comparisons, newest first; `after` goes on."""
    access = of(request)
    found = comparisons_of(access.project)
    if after := uuid_of(request.GET.get("after", "")):
        found = found.filter(id__lt=after)
    rows = list(found[: SHOWN + 1])
    progress = progress_of(rows[:SHOWN])
    context = {
        "rows": [(each, column_names(arms_of(each))[1:], progress[each.id]) for each in rows[:SHOWN]],
        "next": rows[SHOWN - 1].id if len(rows) > SHOWN else None,
        "after": after,
        "may_run": access.may("operator"),
    }
    return render(request, "comparisons/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    """`/comparisons/new/`: the form; `session` ticks one. POST launches, or with `estimate` says what it would cost."""
    access = of(request)
    access.require("operator")
    data = request.POST if request.method == "POST" else None
    chosen = (data or request.GET).getlist("sessions" if data else "session")
    form = ComparisonForm(
        model_choices(access.project.id),
        _offered(access.project, chosen),
        data,
        initial={"sessions": chosen},
    )
    if data is None or not form.is_valid():
        return _form(request, form, status=200 if data is None else 422)
    try:
        plan = form.plan(access.project)
        if "estimate" in data:
            return _form(request, form, estimated=estimates(commands.checked(access.project, plan)))
        made = commands.create(
            access.project, plan, by=access.user.email, comparison_id=form.cleaned_data["form_id"]
        )
    except TimeMachineError as why:
        return _form(request, form, status=form.refuse(why))
    for replay in replays_of(made):
        ring(replay.id)
    return see_other("comparison", made.id)


@require_safe
def comparison(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/`: the matrix, the charts, what each two columns show. A page that polls gets 204 for no news."""
    access = of(request)
    found = comparison_of(access.project, id)
    progress = progress_of([found])[found.id]
    if request.GET.get("rev") == progress.revision and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    context = _comparison(found, progress, wanted(request.GET, len(found.arms)))
    return page(
        request,
        "comparisons/comparison.html",
        context
        | {
            "here": _here(request),
            "may_run": access.may("operator"),
            "judge_form": JudgeForm(model_choices(access.project.id)),
            "judged": len(judged_cells(found)),
        },
        parts=("comparison",),
    )


@require_safe
def export(request: HttpRequest, id: str, form: str) -> HttpResponse:  # noqa: A002
    """All of a comparison as a file: `csv` has a line for each cell, `json` the statistics as well."""
    found = comparison_of(of(request).project, id)
    asks = asks_of(found)
    if form == "csv":
        text, kind = "".join(cells_csv(found, asks)), "text/csv"
    elif form == "json":
        shown = findings(asks, len(found.arms), noise_floor=found.noise_floor)
        whole = whole_json(found, progress_of([found])[found.id], shown) | {"cells": cells_json(asks)}
        text, kind = json.dumps(whole, ensure_ascii=False, indent=2), "application/json"
    else:
        raise NotFound("A comparison is exported as csv or json.", code="not_found")
    named = {"Content-Disposition": f'attachment; filename="comparison-{found.id}.{form}"'}
    data = text.encode("utf-8", "backslashreplace")
    return HttpResponse(data, content_type=f"{kind}; charset=utf-8", headers=named)


@require_http_methods(["GET", "HEAD", "POST"])
def cell(request: HttpRequest, id: str, step: int) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/cells/{step}/`: the recorded answer beside an arm's, with marks and opinions; POST marks it."""
    access = of(request)
    found = comparison_of(access.project, id)
    shown = cell_step(found, step)
    form = MarkForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        access.require("operator")
        status = _marked(access, found, shown, form)
        if status == 200:  # noqa: PLR2004
            return see_other("comparison_cell", found.id, step, part="marks")
    arm = shown.replay.run.arm
    context = {
        "comparison": found,
        "column": column_names(arms_of(found))[arm],
        "run": shown.replay.run.repeat,
        "replay": shown.replay,
        "session": shown.replay.session,
        "step": shown,
        "sides": side_by_side(shown, everything=request.GET.get("all") == "1"),
        "marks": history_of(shown),
        "opinions": opinions_of([shown.id]).get(shown.id, []),
        "form": form,
        "judge_form": JudgeForm(model_choices(access.project.id)),
        "may_run": access.may("operator"),
    }
    return render(request, "comparisons/cell.html", context, status=status)


@require_POST
def judge(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Let a model judge every changed cell, or with `step` that one; `stop` asks no further."""
    access = of(request)
    access.require("operator")
    found = comparison_of(access.project, id)
    if "stop" in request.POST:
        cancel_judges(found)
        return see_other("comparison", id, part="judges")
    step = whole_number(request.POST.get("step", ""))
    said = request.POST.get("model", ""), request.POST.get("other_model", "")
    ask_judge(found, said[1].strip() or said[0], by=access.user.email, step=step)
    ring_judges(found.id)
    if step is None:
        return see_other("comparison", id, part="judges")
    return see_other("comparison_cell", id, step, part="marks")


@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Stop every replay of a comparison."""
    access = of(request)
    access.require("operator")
    commands.cancel(comparison_of(access.project, id))
    return see_other("comparison", id)


@require_POST
def retry(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Ask again what failed or was cancelled."""
    access = of(request)
    access.require("operator")
    for replay_id in commands.retry(comparison_of(access.project, id)):
        ring(replay_id)
    return see_other("comparison", id)


def _comparison(found: Comparison, progress: Progress, asked: Wanted) -> dict[str, Any]:
    asks, arms = asks_of(found), arms_of(found)
    shown: Findings = findings(asks, len(arms), noise_floor=found.noise_floor, against=asked.against)
    names = column_names(arms)
    rows = matrix(asks, arms, shown.columns, asked)
    return {
        "comparison": found,
        "arms": arms,
        "progress": progress,
        "asks": asks,
        "asked": asked,
        "matrix": rows,
        "sessions": sessions_of(found),
        "names": names,
        "charts": charts(rows.columns),
        "pairs": [shown_pair(each, names) for each in shown.pairs],
        "noise": [shown_pair(each, names) for each in shown.noise],
        "method": METHOD,
        "measures": MEASURES,
        "recording": RECORDING,
    }


def _here(request: HttpRequest) -> dict[str, str]:
    names = ("show", "verdict", "session", "against", "after")
    return {name: request.GET[name] for name in names if request.GET.get(name)}


def _marked(access: Access, found: Comparison, step: Any, form: MarkForm) -> int:
    if not form.is_valid():
        return 422
    said = form.cleaned_data
    try:
        commands.mark(found, step, said["verdict"], by=access.user.email, note=said["note"])
    except TimeMachineError as why:
        form.add_error(None, why.message)
        return why.status
    return 200


def _form(
    request: HttpRequest, form: ComparisonForm, *, status: int = 200, estimated: Any = None
) -> HttpResponse:
    context = {"form": form, "estimated": estimated, "shown_arms": SHOWN_ARMS}
    return render(request, "comparisons/launch.html", context, status=status)


def _offered(project: Project, chosen: list[str]) -> list[Session]:
    """The newest sessions that have an ask, and those that are chosen already."""
    asks = Action.objects.filter(session=OuterRef("id"), kind="ask")
    of_project = Session.objects.filter(Exists(asks), project=project).order_by("-started_at", "-id")
    wanted_ids = [found for each in chosen if (found := uuid_of(each))]
    newest = list(of_project[:OFFERED])
    known = {each.id for each in newest}
    return [*of_project.filter(id__in=[each for each in wanted_ids if each not in known]), *newest]
