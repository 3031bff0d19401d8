"""Replay suites: the list, one suite with its runs, its form, and the changes in a run."""

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.ids import uuid7, uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.core.pure.safe_text import shown
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.replay.runs.estimate import Estimate
from timemachine.replay.suites import commands, running
from timemachine.replay.suites.estimate import estimates
from timemachine.replay.suites.models import Suite
from timemachine.replay.suites.pure.matching import matching_of
from timemachine.replay.suites.queries import (
    cancelled_at,
    counts_of,
    deletions_in,
    events_of,
    keys_of,
    latest_runs,
    matched_by,
    members_of,
    named_in,
    offered_in,
    open_run,
    over_limit,
    revision_of,
    run_of,
    runs_of,
    suite_of,
    suites_of,
)
from timemachine.replay.suites.reports import summary
from timemachine.replay.tasks import run_replay
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.replays.forms.replays import chosen_options
from timemachine.web.replays.forms.suites import SuiteForm, as_it_is
from timemachine.web.replays.presenters.suite_plot import verdict_rows
from timemachine.web.replays.presenters.suite_report import report

SHOWN: Final = 50
SHOWN_RUNS: Final = 30


@require_safe
def suites(request: HttpRequest) -> HttpResponse:
    """`/suites/`: the project's suites by name, each with its latest run; `after` is the page cursor."""
    access = of(request)
    found = suites_of(access.project)
    after = request.GET.get("after", "")
    if after and is_plain(after):
        found = found.filter(name__gt=after)
    rows = list(found[: SHOWN + 1])
    latest = latest_runs(rows[:SHOWN])
    counts = counts_of(list(latest.values()))
    context: dict[str, Any] = {
        "rows": [(each, run := latest.get(each.id), run and counts[run.id]) for each in rows[:SHOWN]],
        "next": rows[SHOWN - 1].name if len(rows) > SHOWN else None,
        "after": after,
        "here": {},
        "deleted": deletions_in(access.project)[:5],
        "may_run": access.may(OPERATOR),
    }
    return render(request, "suites/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """`/suites/new/`: the form; `session` selects one. POST creates the suite, or with `estimate` shows the cost of a run."""
    access = of(request)
    access.require(OPERATOR)
    data = request.POST if request.method == "POST" else None
    chosen = (data or request.GET).getlist("sessions" if data else "session")
    form = SuiteForm(
        model_choices(access.project.id),
        offered_in(access.project, chosen),
        data,
        initial={"sessions": chosen},
    )
    if data is None or not form.is_valid():
        return _form(request, form, status=200 if data is None else 422)
    try:
        plan = form.plan(access.project)
        if "estimate" in data:
            return _form(request, form, estimated=estimates(access.project, plan))
        made = commands.create(
            access.project,
            plan,
            by=access.user.email,
            suite_id=form.cleaned_data["form_id"],
        )
    except TimeMachineError as why:
        return _form(request, form, status=form.refuse(why))
    return see_other("suite", made.id)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/suites/{id}/edit/`: the form of an existing suite; POST saves it, or with `estimate` shows the cost of a run."""
    access = of(request)
    access.require(OPERATOR)
    found = suite_of(access.project, id)
    data = request.POST if request.method == "POST" else None
    begins = as_it_is(found)
    chosen = data.getlist("sessions") if data else begins["sessions"]
    form = SuiteForm(
        model_choices(access.project.id), offered_in(access.project, chosen), data, initial=begins
    )
    if data is None or not form.is_valid():
        return _form(request, form, suite=found, status=200 if data is None else 422)
    try:
        plan = form.plan(access.project)
        if "estimate" in data:
            return _form(request, form, suite=found, estimated=estimates(access.project, plan))
        commands.edit(found, plan, by=access.user.email)
    except TimeMachineError as why:
        return _form(request, form, suite=found, status=form.refuse(why))
    return see_other("suite", found.id)


@require_safe
def suite(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/suites/{id}/`: the suite, its schedule, its runs as a table and as bars, and its history."""
    access = of(request)
    found = suite_of(access.project, id)
    runs, matching = list(runs_of(found)[:SHOWN_RUNS]), matching_of(found.matching)
    counts = counts_of(runs)
    context = {
        "suite": found,
        "named": named_in(found),
        "matching": matching and matching.words(),
        "matched": matched_by(found).count(),
        "options": chosen_options(found.options),
        "runs": [(run, counts[run.id]) for run in runs],
        "more_runs": len(runs) == SHOWN_RUNS,
        "plot": verdict_rows(runs, counts) if runs else [],
        "going": open_run(found),
        "run_id": uuid7(),
        "events": events_of(found)[:20],
        "may_run": access.may(OPERATOR),
    }
    return render(request, "suites/suite.html", context)


@require_POST
def run(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Launch a run. A form submitted twice launches only one."""
    access = of(request)
    access.require(OPERATOR)
    found = suite_of(access.project, id)
    made = running.run(found, by=access.user.email, run_id=uuid_of(request.POST.get("run_id", "")))
    enqueue(run_replay, *(each.replay_id for each in members_of(made) if each.replay_id is not None))
    return see_other("suite_run", found.id, made.number)


@require_safe
def suite_run(request: HttpRequest, id: str, number: int) -> HttpResponse:  # noqa: A002
    """`/suites/{id}/runs/{number}/`: the changes since the previous run. Polling gets 204 if nothing changed."""
    access = of(request)
    suite = suite_of(access.project, id)
    found = run_of(suite, number)
    revision = revision_of(found)
    if request.GET.get("rev") == revision and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    counts, members = counts_of([found])[found.id], list(members_of(found))
    context: dict[str, Any] = {
        "suite": suite,
        "run": found,
        "counts": counts,
        "over_limit": over_limit(found, counts),
        "summary": summary(found, counts),
        "cancelled_at": cancelled_at(found),
        "members": members,
        "problems": [each for each in members if each.problem_code or each.replay_id is None],
        "report": report(found, keys_of(found), request.GET),
        "options": chosen_options(found.options),
        "revision": revision,
        "here": {name: request.GET[name] for name in ("change", "at") if request.GET.get(name)},
        "may_run": access.may(OPERATOR),
    }
    return page(request, "suites/run.html", context, parts=("run",))


@require_POST
def cancel(request: HttpRequest, id: str, number: int) -> HttpResponse:  # noqa: A002
    """Cancel every replay of a run."""
    access = of(request)
    access.require(OPERATOR)
    found = suite_of(access.project, id)
    running.cancel(run_of(found, number), by=access.user.email)
    return see_other("suite_run", found.id, number)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/suites/{id}/delete/`: the confirmation; POST deletes the suite with its reports."""
    access = of(request)
    access.require(OPERATOR)
    found = suite_of(access.project, id)
    if request.method != "POST":
        return render(request, "suites/delete.html", {"suite": found, "runs": found.runs.count()})
    commands.delete(found, by=access.user.email)
    messages.success(request, f"Suite {shown(found.name)} deleted. The replays of its runs stay.")
    return see_other("suites")


def _form(
    request: HttpRequest,
    form: SuiteForm,
    *,
    suite: Suite | None = None,
    status: int = 200,
    estimated: Sequence[Estimate] = (),
) -> HttpResponse:
    context = {
        "form": form,
        "estimated": estimated,
        "suite": suite,
        "missing": [each.key for each in named_in(suite) if each.session is None] if suite else [],
    }
    return render(request, "suites/form.html", context, status=status)
