"""Comparisons: the list, the launch form, the matrix with its statistics, one answer, and the export."""

from typing import Final

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.evidence.queries import listed_seal, sealed_comparison
from timemachine.evidence.sealing.erased_since import erased_of_comparison, erased_of_replay
from timemachine.governance.deletion.erasure.queries import erased_parts
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS
from timemachine.recording.sessions.queries import HAPPENED_HERE, NEWEST_FIRST
from timemachine.recording.usage.queries import models_of
from timemachine.replay.comparison import commands, queries
from timemachine.replay.comparison.estimate import judge_estimate, quick_estimates
from timemachine.replay.comparison.export import FORMS, file_of
from timemachine.replay.comparison.groups import groups_of
from timemachine.replay.comparison.judge_queue import ask_judge, cancel_judges, judged_cells
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.partings import partings_of
from timemachine.replay.comparison.progress import Progress, over_limit, progress_of
from timemachine.replay.comparison.recorded import recorded_answers
from timemachine.replay.comparison.results import Results, results_of, revision_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.queries import began_at
from timemachine.replay.tasks import compute_results, judge_cells, run_replay
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.comparisons import forms
from timemachine.web.comparisons.presenters.findings import figures, shown_groups
from timemachine.web.comparisons.presenters.matrix import AskFilter, ask_filter, column_names
from timemachine.web.estimates import Estimate, estimate_alone, is_estimating
from timemachine.web.form_parts import sent
from timemachine.web.http import first_rows, is_unchanged, page, see_other
from timemachine.web.replays.presenters.side_by_side import side_by_side

SHOWN: Final = 50
OFFERED: Final = 20


@get_view()
def comparisons(request: HttpRequest, access: Access) -> HttpResponse:
    """`/comparisons/`: the project's comparisons, newest first; `after` is the page cursor."""
    found = queries.comparisons_of(access.project)
    if after := uuid_of(request.GET.get("after", "")):
        found = found.filter(id__lt=after)
    rows, last = first_rows(found, SHOWN)
    progress = progress_of(rows)
    context = {
        "rows": [(each, column_names(queries.variants_of(each))[1:], progress[each.id]) for each in rows],
        "next": last and last.id,
        "after": after,
        "may_run": access.may(OPERATOR),
    }
    return page(request, "comparisons/list.html", context)


@form_view(OPERATOR)
def launch(request: HttpRequest, access: Access) -> HttpResponse:
    """`/comparisons/new/`: the form; `session` selects one. POST launches, or with `estimate` shows the cost."""
    data, estimating = sent(request), is_estimating(request)
    chosen = (data or request.GET).getlist("sessions" if data else "session")
    offered = _offered(access.project, chosen)
    form = forms.ComparisonForm(
        model_choices(access.project.id, models_of(offered)),
        offered,
        data,
        estimating=estimating,
        initial={"sessions": chosen},
    )
    has_none = not data and bool(chosen) and not {str(each.id) for each in offered} & set(chosen)
    if estimating:
        estimated = form.run(lambda: _estimate(access.project, form))
        return estimate_alone(request, form, estimated) or _form(request, form, estimated=estimated)
    made = form.run(
        lambda: commands.create(
            access.project,
            form.plan(access.project),
            by=access.user.email,
            comparison_id=form.cleaned_data["form_id"],
        )
    )
    if made is None:
        return _form(request, form, has_none=has_none)
    enqueue(run_replay, *(each.id for each in queries.replays_of(made)))
    return see_other("comparison", made.id)


@get_view()
def comparison(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/comparisons/{id}/`: the finding, the matrix, the plots and the statistics. Polling gets 204 if nothing changed."""
    found = queries.comparison_of(access.project, id)
    progress, so_far = progress_of([found])[found.id], request.GET.get("so_far") == "1"
    results = results_of(found, progress, so_far=so_far)
    if results.due:
        enqueue(compute_results, found.id)
    revision = f"{progress.revision}-{revision_of(found)}"
    if is_unchanged(request, revision):
        return HttpResponse(status=204)
    names = ("show", "verdict", "lacking", "session", "against", "sort", "after", "so_far")
    return page(
        request,
        "comparisons/comparison.html",
        _comparison(found, progress, results, ask_filter(request.GET, len(found.arms)))
        | _judging(access, found, request.GET.get("judge")),
        parts=("comparison",),
        here={name: request.GET[name] for name in names if request.GET.get(name)},
        revision=revision,
        so_far=so_far,
        may_run=access.may(OPERATOR),
        seal=listed_seal(sealed_comparison(found)),
        judged=judged_cells(found).count(),
    )


@get_view()
def export(_request: HttpRequest, access: Access, id: str, form: str) -> HttpResponse:
    """Download a comparison: `csv` has a line for each answer, `json` also has the statistics."""
    found = queries.comparison_of(access.project, id)
    if form not in FORMS:
        raise NotFound("Comparisons can be exported as csv or json.", code="not_found")
    file = file_of(found, form)
    named = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return HttpResponse(file.data, content_type=file.media_type, headers=named)


@form_view()
def cell(request: HttpRequest, access: Access, id: str, step: int) -> HttpResponse:
    """`/comparisons/{id}/cells/{step}/`: the recorded answer next to a variant's, with ratings and judge verdicts; POST rates it."""
    found = queries.comparison_of(access.project, id)
    shown = queries.cell_step(found, step)
    if request.method == "POST":
        access.require(OPERATOR)
    form = forms.MarkForm(sent(request), mine=queries.mark_by(shown, access.user.email))
    marked = form.succeeds(
        lambda: commands.mark(
            found,
            shown,
            form.cleaned_data["verdict"],
            by=access.user.email,
            note=form.cleaned_data["note"],
        )
    )
    if marked:
        return see_other("comparison_cell", found.id, step, part="marks")
    names, beside = column_names(queries.variants_of(found)), queries.cells_beside(found, shown)
    return page(
        request,
        "comparisons/cell.html",
        _judging(access, found, request.GET.get("judge"), step=shown.id),
        status=form.http_status,
        comparison=found,
        column=names[shown.replay.run.arm],
        beside=beside,
        others=[(names[each.replay.run.arm], each) for each in beside.others],
        run=shown.replay.run.repeat,
        replay=shown.replay,
        session=shown.replay.session,
        step=shown,
        erased=erased_of_replay(shown.replay),
        erased_parts=erased_parts([shown]),
        sides=side_by_side(shown, everything=request.GET.get("all") == "1"),
        marks=queries.history_of(shown),
        opinions=queries.opinions_of([shown.id]).get(shown.id, []),
        form=form,
        may_run=access.may(OPERATOR),
    )


@post_view(OPERATOR)
def judge(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Ask a judge model about every changed answer, or with `step` about one; `estimate` shows the cost, `stop` stops judging.

    A model that cannot judge leads back to the form with an error.
    """
    found = queries.comparison_of(access.project, id)
    if "stop" in request.POST:
        cancel_judges(found)
        return see_other("comparison", id, part="judges")
    step = whole_number(request.POST.get("step", ""))
    model = request.POST.get("model", "").strip()
    asking = {"judge": model[: forms.LONGEST_MODEL]}
    if "estimate" not in request.POST:
        try:
            ask_judge(found, model, by=access.user.email, step=step)
        except TimeMachineError:
            pass  # the page finds the same error and shows it at the field
        else:
            enqueue(judge_cells, found.id)
            asking = {}
    if step is None:
        return see_other(reverse("comparison", args=[id], query=asking), part="judges")
    return see_other(reverse("comparison_cell", args=[id, step], query=asking), part="marks")


@post_view(OPERATOR)
def cancel(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Cancel every replay of a comparison."""
    commands.cancel(queries.comparison_of(access.project, id), by=access.user.email)
    return see_other("comparison", id)


@post_view(OPERATOR)
def retry(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Retry failed and cancelled answers."""
    enqueue(run_replay, *commands.retry(queries.comparison_of(access.project, id)))
    return see_other("comparison", id)


def _comparison(
    found: Comparison, progress: Progress, results: Results, ask_filter: AskFilter
) -> dict[str, object]:
    arms = queries.variants_of(found)
    context = {
        "comparison": found,
        "arms": arms,
        "progress": progress,
        "began": None if progress.all_finished else began_at(Replay.objects.filter(run__comparison=found)),
        "over_limit": over_limit(found, progress),
        "cancelled": queries.cancelled_of(found),
        "results": results,
        "sessions": queries.sessions_of(found),
        "erased": erased_of_comparison(found),
        "asked": ask_filter,
        "unknown_reasons": queries.unknown_reasons(found) if progress.unknown_cost_calls else {},
    }
    if results.findings is None:
        return context | {"steps": queries.steps_compared(found)}
    context["recorded_reasons"] = queries.recorded_reasons(found)
    context["groups"] = shown_groups(groups_of(found), arms)
    return context | figures(
        results.findings, arms, ask_filter, partings_of(found), recorded_answers(queries.cells_of(found))
    )


def _judging(
    access: Access, found: Comparison, model: str | None, *, step: int | None = None
) -> dict[str, object]:
    """Return the judge form, and the estimated cost of the model in the URL, or an error at its field."""
    form = forms.JudgeForm(model_choices(access.project.id), model)
    context: dict[str, object] = {"judge_form": form}
    if model is None or not access.may(OPERATOR) or not form.is_valid():
        return context
    try:
        return context | {"judge_estimate": judge_estimate(found, model, step)}
    except TimeMachineError as why:
        form.refuse(why)
    return context


def _estimate(project: Project, form: forms.ComparisonForm) -> Estimate:
    plan = commands.checked(project, form.plan(project))
    found, every = quick_estimates(plan)
    return Estimate(found=found, every=every, runs=len(plan.runs))


def _form(
    request: HttpRequest,
    form: forms.ComparisonForm,
    *,
    estimated: Estimate | None = None,
    has_none: bool = False,
) -> HttpResponse:
    return page(
        request,
        "comparisons/launch.html",
        status=form.http_status,
        form=form,
        estimated=estimated,
        has_none=has_none,
        shown_arms=forms.SHOWN_ARMS,
    )


def _offered(project: Project, chosen: list[str]) -> list[Session]:
    """Return the newest sessions with an ask or a model call, and those already chosen."""
    asks = Action.objects.filter(HAPPENED_HERE, session=OuterRef("id"), kind__in=MODEL_CALLS)
    of_project = Session.objects.filter(Exists(asks), project=project).order_by(*NEWEST_FIRST)
    wanted_ids = [found for each in chosen if (found := uuid_of(each))]
    newest = list(of_project[:OFFERED])
    known = {each.id for each in newest}
    return [*of_project.filter(id__in=[each for each in wanted_ids if each not in known]), *newest]
