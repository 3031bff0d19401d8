"""Replay suites: the list, one suite with its runs, its form, and the changes in a run."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict

from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.pure.ids import uuid7, uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.core.pure.safe_text import shown
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.usage.queries import models_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.queries import began_at
from timemachine.replay.suites import commands, queries, running
from timemachine.replay.suites.models import Suite
from timemachine.replay.suites.plan import matching_of
from timemachine.replay.suites.reports import finding, totals
from timemachine.replay.tasks import run_replay
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.estimates import Estimate, estimate_alone, is_estimating
from timemachine.web.form_parts import sent
from timemachine.web.http import first_rows, is_unchanged, page, see_other
from timemachine.web.replays.forms.replays import chosen_options
from timemachine.web.replays.forms.suites import SuiteForm, as_it_is
from timemachine.web.replays.presenters.suite_report import report, verdict_rows

SHOWN: Final = 50
SHOWN_RUNS: Final = 30


@get_view()
def suites(request: HttpRequest, access: Access) -> HttpResponse:
    """`/suites/`: the project's suites by name, each with its latest run; `after` is the page cursor."""
    found = queries.suites_of(access.project)
    after = request.GET.get("after", "")
    if after and is_plain(after):
        found = found.filter(name__gt=after)
    rows, last = first_rows(found, SHOWN)
    latest = queries.latest_runs(rows)
    counts = queries.counts_of(list(latest.values()))
    context: dict[str, object] = {
        "rows": [(each, run := latest.get(each.id), run and counts[run.id]) for each in rows],
        "next": last and last.name,
        "after": after,
        "here": {},
        "deleted": queries.deletions_in(access.project)[:5],
        "may_run": access.may(OPERATOR),
    }
    return page(request, "suites/list.html", context)


@form_view(OPERATOR)
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """`/suites/new/`: the form; `session` selects one. POST creates the suite, or with `estimate` shows the cost of a run."""
    data = sent(request)
    chosen = (data or request.GET).getlist("sessions" if data else "session")
    estimating = is_estimating(request)
    form = _suite_form(access, data, {"sessions": chosen}, chosen, estimating=estimating)
    if estimating:
        return _estimated(request, access, form)
    made = form.run(
        lambda: commands.create(
            access.project,
            form.plan(access.project),
            by=access.user.email,
            suite_id=form.cleaned_data["form_id"],
        )
    )
    return _form(request, form) if made is None else see_other("suite", made.id)


@form_view(OPERATOR)
def edit(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/suites/{id}/edit/`: the form of an existing suite; POST saves it, or with `estimate` shows the cost of a run."""
    found = queries.suite_of(access.project, id)
    data, begins = sent(request), as_it_is(found)
    estimating = is_estimating(request)
    chosen = data.getlist("sessions") if data else begins["sessions"]
    form = _suite_form(access, data, begins, chosen, estimating=estimating)
    if estimating:
        return _estimated(request, access, form, suite=found)
    saved = form.succeeds(lambda: commands.edit(found, form.plan(access.project), by=access.user.email))
    return see_other("suite", found.id) if saved else _form(request, form, suite=found)


@get_view()
def suite(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/suites/{id}/`: the suite, its schedule, its runs as a table and as bars, and its history."""
    found = queries.suite_of(access.project, id)
    runs, matching = list(queries.runs_of(found)[:SHOWN_RUNS]), matching_of(found.matching)
    counts = queries.counts_of(runs)
    latest = next((run for run in runs if run.finished_at), None)
    context = {
        "suite": found,
        "latest": latest,
        "finding": latest and finding(latest, counts[latest.id]),
        "named": queries.named_in(found),
        "matching": matching and matching.words(),
        "matched": queries.matched_by(found).count(),
        "options": chosen_options(found.options),
        "runs": [(run, counts[run.id]) for run in runs],
        "more_runs": len(runs) == SHOWN_RUNS,
        "plot": verdict_rows(runs, counts) if runs else [],
        "going": queries.open_run(found),
        "run_id": uuid7(),
        "events": queries.events_of(found)[:20],
        "may_run": access.may(OPERATOR),
    }
    return page(request, "suites/suite.html", context)


@post_view(OPERATOR)
def run(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Launch a run. A form submitted twice launches only one."""
    found = queries.suite_of(access.project, id)
    made = running.run(found, by=access.user.email, run_id=uuid_of(request.POST.get("run_id", "")))
    enqueue(run_replay, *(each.replay_id for each in queries.members_of(made) if each.replay_id is not None))
    return see_other("suite_run", found.id, made.number)


@get_view()
def suite_run(request: HttpRequest, access: Access, id: str, number: int) -> HttpResponse:
    """`/suites/{id}/runs/{number}/`: the changes since the previous run. Polling gets 204 if nothing changed."""
    suite = queries.suite_of(access.project, id)
    found = queries.run_of(suite, number)
    revision = queries.revision_of(found)
    if is_unchanged(request, revision):
        return HttpResponse(status=204)
    counts, pairs = queries.counts_of([found])[found.id], queries.members_with_divergences(found)
    members = [each for each, _ in pairs]
    context: dict[str, object] = {
        "suite": suite,
        "run": found,
        "counts": counts,
        "began": None if found.finished_at else began_at(Replay.objects.filter(suite_replay__run=found)),
        "over_limit": queries.over_limit(found, counts),
        "finding": finding(found, counts) if found.finished_at else None,
        "summary": totals(found, counts),
        "cancelled_at": queries.cancelled_at(found),
        "members": pairs,
        "problems": [each for each in members if each.problem_code or each.replay_id is None],
        "report": report(found, queries.keys_of(found), request.GET),
        "options": chosen_options(found.options),
        "revision": revision,
        "here": {name: request.GET[name] for name in ("change", "at") if request.GET.get(name)},
        "may_run": access.may(OPERATOR),
    }
    return page(request, "suites/run.html", context, parts=("run",))


@post_view(OPERATOR)
def cancel(_request: HttpRequest, access: Access, id: str, number: int) -> HttpResponse:
    """Cancel every replay of a run."""
    found = queries.suite_of(access.project, id)
    running.cancel(queries.run_of(found, number), by=access.user.email)
    return see_other("suite_run", found.id, number)


@form_view(OPERATOR)
def delete(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/suites/{id}/delete/`: the confirmation; POST deletes the suite with its reports."""
    found = queries.suite_of(access.project, id)
    if request.method != "POST":
        return page(request, "suites/delete.html", suite=found, runs=found.runs.count())
    commands.delete(found, by=access.user.email)
    messages.success(request, f"Suite {shown(found.name)} deleted. The replays of its runs stay.")
    return see_other("suites")


def _suite_form(
    access: Access,
    data: QueryDict | None,
    initial: Mapping[str, Any],
    chosen: Sequence[str],
    *,
    estimating: bool,
) -> SuiteForm:
    offered = queries.offered_in(access.project, chosen)
    models = model_choices(access.project.id, models_of(offered))
    return SuiteForm(models, offered, data, initial=initial, estimating=estimating)


def _estimated(
    request: HttpRequest, access: Access, form: SuiteForm, *, suite: Suite | None = None
) -> HttpResponse:
    estimated = form.run(lambda: _estimate(access.project, form))
    return estimate_alone(request, form, estimated) or _form(request, form, suite=suite, estimated=estimated)


def _estimate(project: Project, form: SuiteForm) -> Estimate:
    found, every = queries.estimates(project, form.plan(project))
    return Estimate(found=found, every=every)


def _form(
    request: HttpRequest,
    form: SuiteForm,
    *,
    suite: Suite | None = None,
    estimated: Estimate | None = None,
) -> HttpResponse:
    missing = [each.key for each in queries.named_in(suite) if each.session is None] if suite else []
    return page(
        request,
        "suites/form.html",
        status=form.http_status,
        form=form,
        estimated=estimated,
        choices=form.choices(),
        suite=suite,
        missing=missing,
    )
