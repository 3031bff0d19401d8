"""Comparisons: the list, the launch form, the matrix with its statistics, one answer, and the export."""

from typing import Any, Final

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.evidence.queries import sealed_comparison
from timemachine.evidence.seal_status import listed_seal
from timemachine.evidence.sealing.erased_since import erased_of_comparison, erased_of_replay
from timemachine.governance.deletion.erasure.queries import erased_parts
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.comparison import commands
from timemachine.replay.comparison.estimate import estimates, judge_estimate
from timemachine.replay.comparison.export import FORMS, file_of
from timemachine.replay.comparison.judge_queue import ask_judge, cancel_judges, judged_count
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.progress import Progress, over_limit, progress_of
from timemachine.replay.comparison.queries import (
    ask_count,
    cancelled_of,
    cell_step,
    comparison_of,
    comparisons_of,
    history_of,
    mark_by,
    opinions_of,
    replays_of,
    sessions_of,
    variants_of,
)
from timemachine.replay.comparison.results import Results, results_of, revision_of
from timemachine.replay.tasks import compute_results, judge_cells, run_replay
from timemachine.web.access import Access, of
from timemachine.web.comparisons.forms.comparisons import (
    LONGEST_MODEL,
    SHOWN_ARMS,
    ComparisonForm,
    JudgeForm,
    MarkForm,
)
from timemachine.web.comparisons.presenters.figures import figures
from timemachine.web.comparisons.presenters.matrix import AskFilter, ask_filter, column_names
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.replays.presenters.side_by_side import pair_of, side_by_side

SHOWN: Final = 50
OFFERED: Final = 20


@require_safe
def comparisons(request: HttpRequest) -> HttpResponse:
    """`/comparisons/`: the project's comparisons, newest first; `after` is the page cursor."""
    access = of(request)
    found = comparisons_of(access.project)
    if after := uuid_of(request.GET.get("after", "")):
        found = found.filter(id__lt=after)
    rows = list(found[: SHOWN + 1])
    progress = progress_of(rows[:SHOWN])
    context = {
        "rows": [(each, column_names(variants_of(each))[1:], progress[each.id]) for each in rows[:SHOWN]],
        "next": rows[SHOWN - 1].id if len(rows) > SHOWN else None,
        "after": after,
        "may_run": access.may("operator"),
    }
    return render(request, "comparisons/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    """`/comparisons/new/`: the form; `session` selects one. POST launches, or with `estimate` shows the cost."""
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
    enqueue(run_replay, *(each.id for each in replays_of(made)))
    return see_other("comparison", made.id)


@require_safe
def comparison(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/`: the matrix, the charts and the statistics. Polling gets 204 if nothing changed."""
    access = of(request)
    found = comparison_of(access.project, id)
    progress, so_far = progress_of([found])[found.id], request.GET.get("so_far") == "1"
    results = results_of(found, progress, so_far=so_far)
    if results.due:
        enqueue(compute_results, found.id)
    revision = f"{progress.revision}-{revision_of(found)}"
    if request.GET.get("rev") == revision and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    context = _comparison(found, progress, results, ask_filter(request.GET, len(found.arms)))
    return page(
        request,
        "comparisons/comparison.html",
        context
        | {
            "here": _here(request),
            "revision": revision,
            "so_far": so_far,
            "may_run": access.may("operator"),
            "seal": listed_seal(sealed_comparison(found)),
            "judged": judged_count(found),
            **_judging(access, found, request.GET.get("judge")),
        },
        parts=("comparison",),
    )


@require_safe
def export(request: HttpRequest, id: str, form: str) -> HttpResponse:  # noqa: A002
    """Download a comparison: `csv` has a line for each answer, `json` also has the statistics."""
    found = comparison_of(of(request).project, id)
    if form not in FORMS:
        raise NotFound("Comparisons can be exported as csv or json.", code="not_found")
    file = file_of(found, form)
    named = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return HttpResponse(file.data, content_type=file.media_type, headers=named)


@require_http_methods(["GET", "HEAD", "POST"])
def cell(request: HttpRequest, id: str, step: int) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/cells/{step}/`: the recorded answer next to a variant's, with ratings and judge verdicts; POST rates it."""
    access = of(request)
    found = comparison_of(access.project, id)
    shown = cell_step(found, step)
    form = MarkForm(
        request.POST if request.method == "POST" else None, mine=mark_by(shown, access.user.email)
    )
    status = 200
    if form.is_bound:
        access.require("operator")
        status = _marked(access, found, shown, form)
        if status == 200:  # noqa: PLR2004
            return see_other("comparison_cell", found.id, step, part="marks")
    arm = shown.replay.run.arm
    context = {
        "comparison": found,
        "column": column_names(variants_of(found))[arm],
        "run": shown.replay.run.repeat,
        "replay": shown.replay,
        "session": shown.replay.session,
        "step": shown,
        "erased": erased_of_replay(shown.replay),
        "erased_parts": erased_parts([shown]),
        "sides": side_by_side(pair_of(shown), everything=request.GET.get("all") == "1"),
        "marks": history_of(shown),
        "opinions": opinions_of([shown.id]).get(shown.id, []),
        "form": form,
        "may_run": access.may("operator"),
        **_judging(access, found, request.GET.get("judge"), step=shown.id),
    }
    return render(request, "comparisons/cell.html", context, status=status)


@require_POST
def judge(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Ask a judge model about every changed answer, or with `step` about one; `estimate` shows the cost, `stop` stops judging.

    A model that cannot judge leads back to the form with an error.
    """
    access = of(request)
    access.require("operator")
    found = comparison_of(access.project, id)
    if "stop" in request.POST:
        cancel_judges(found)
        return see_other("comparison", id, part="judges")
    step = whole_number(request.POST.get("step", ""))
    model = request.POST.get("other_model", "").strip() or request.POST.get("model", "")
    asking = {"judge": model[:LONGEST_MODEL]}
    if "estimate" not in request.POST:
        try:
            ask_judge(found, model, by=access.user.email, step=step)
        except TimeMachineError:
            pass  # the page finds the same, and says so at the field
        else:
            enqueue(judge_cells, found.id)
            asking = {}
    if step is None:
        return see_other(reverse("comparison", args=[id], query=asking), part="judges")
    return see_other(reverse("comparison_cell", args=[id, step], query=asking), part="marks")


@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Cancel every replay of a comparison."""
    access = of(request)
    access.require("operator")
    commands.cancel(comparison_of(access.project, id), by=access.user.email)
    return see_other("comparison", id)


@require_POST
def retry(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Retry failed and cancelled answers."""
    access = of(request)
    access.require("operator")
    enqueue(run_replay, *commands.retry(comparison_of(access.project, id)))
    return see_other("comparison", id)


def _comparison(found: Comparison, progress: Progress, results: Results, asked: AskFilter) -> dict[str, Any]:
    arms = variants_of(found)
    context = {
        "comparison": found,
        "arms": arms,
        "progress": progress,
        "over_limit": over_limit(found, progress),
        "cancelled": cancelled_of(found),
        "results": results,
        "sessions": sessions_of(found),
        "erased": erased_of_comparison(found),
        "asked": asked,
    }
    if results.findings is None:
        return context | {"ask_count": ask_count(found)}
    return context | figures(results.findings, arms, asked)


def _judging(
    access: Access, found: Comparison, model: str | None, *, step: int | None = None
) -> dict[str, Any]:
    """Return the judge form, and the estimated cost of the model in the URL, or an error at its field."""
    form = JudgeForm(model_choices(access.project.id), model)
    context: dict[str, Any] = {"judge_form": form}
    if model is None or not access.may("operator") or not form.is_valid():
        return context
    try:
        return context | {"judge_estimate": judge_estimate(found, model, step)}
    except TimeMachineError as why:
        form.refuse(why)
    return context


def _here(request: HttpRequest) -> dict[str, str]:
    names = ("show", "verdict", "lacking", "session", "against", "after", "so_far")
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
    """Return the newest sessions with an ask, and those already chosen."""
    asks = Action.objects.filter(session=OuterRef("id"), kind="ask")
    of_project = Session.objects.filter(Exists(asks), project=project).order_by("-started_at", "-id")
    wanted_ids = [found for each in chosen if (found := uuid_of(each))]
    newest = list(of_project[:OFFERED])
    known = {each.id for each in newest}
    return [*of_project.filter(id__in=[each for each in wanted_ids if each not in known]), *newest]
