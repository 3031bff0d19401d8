"""Replay suites over HTTP: create, edit, run, follow, and read what changed since the last run."""

from dataclasses import replace

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import sessions_named
from timemachine.replay.runs.schemas import Estimates
from timemachine.replay.suites import commands, queries, running
from timemachine.replay.suites.models import Suite, SuiteRun
from timemachine.replay.suites.plan import SuitePlan
from timemachine.replay.suites.pure.changes import CHANGES, UNCHANGED
from timemachine.replay.suites.reports import report_page
from timemachine.replay.suites.schemas import (
    StepChangeOut,
    SuiteChange,
    SuiteDeleted,
    SuiteDetail,
    SuiteIn,
    SuiteMember,
    SuiteOut,
    SuitePage,
    SuiteReport,
    SuiteRunDetail,
    SuiteRunIn,
    SuiteRunOut,
    SuiteRunPage,
)
from timemachine.replay.tasks import run_replay

router = Router(tags=["suites"])
NULLABLE = ("schedule", "matching")


@router.post("", response={201: SuiteOut}, summary="Create a suite")
def create(request: HttpRequest, payload: SuiteIn) -> Status[SuiteOut]:
    """Store a named set of sessions with replay options. Run it at /api/suites/{id}/runs or on a schedule."""
    who = caller(request, "run")
    plan = SuitePlan(
        name=payload.name,
        sessions=sessions_named(who.project, payload.sessions),
        options=payload.options,
        use_models=payload.use_models,
        fail_on=payload.fail_on,
        schedule=payload.schedule,
        matching=payload.matching,
    )
    return Status(201, SuiteOut.of(commands.create(who.project, plan, by=who.by)))


@router.get("", response=SuitePage, summary="List suites")
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> SuitePage:
    """The project's suites by name, each with its latest run."""
    found = queries.suites_of(caller(request, "read").project).prefetch_related("sessions__session")
    rows, following = paging.ordered_rows(found, limit, after, "name", paging.name)
    latest = queries.latest_runs(rows)
    counts = queries.counts_of(list(latest.values()))
    runs = {suite_id: SuiteRunOut.of(run, counts[run.id]) for suite_id, run in latest.items()}
    shown = [SuiteOut.of(each, runs.get(each.id)) for each in rows]
    return SuitePage.model_construct(items=shown, next=following)


@router.get("/{suite_id}", response=SuiteDetail, summary="One suite")
def read(request: HttpRequest, suite_id: str) -> SuiteDetail:
    """A suite by its id or name, with its latest run, and who changed it."""
    return _whole(queries.suite_of(caller(request, "read").project, suite_id))


@router.patch("/{suite_id}", response=SuiteDetail, summary="Edit a suite")
def edit(request: HttpRequest, suite_id: str, payload: SuiteChange) -> SuiteDetail:
    """Change the fields that are sent; `options` are replaced completely. Earlier runs keep their options."""
    who = caller(request, "run")
    suite = queries.suite_of(who.project, suite_id)
    given: JsonObject = {name: getattr(payload, name) for name in payload.model_fields_set}
    absent = [name for name, value in given.items() if value is None and name not in NULLABLE]
    if absent:
        raise InvalidInput(
            f"`{absent[0]}` cannot be null; leave it out to keep it.", code="invalid_field", field=absent[0]
        )
    if payload.sessions is not None:
        given["sessions"] = sessions_named(who.project, payload.sessions)
    return _whole(
        commands.edit(suite, replace(queries.plan_of(suite, given.get("options")), **given), by=who.by)
    )


@router.delete("/{suite_id}", response=SuiteDeleted, summary="Delete a suite")
def delete(request: HttpRequest, suite_id: str) -> SuiteDeleted:
    """Delete a suite and its reports; the replays of its runs stay with their sessions."""
    who = caller(request, "run")
    found = queries.suite_of(who.project, suite_id)
    deleted = str(found.id)
    runs = commands.delete(found, by=who.by)
    return SuiteDeleted.model_construct(id=deleted, name=found.name, runs=runs)


@router.post("/{suite_id}/runs", response={202: SuiteRunDetail}, summary="Run a suite")
def run(request: HttpRequest, suite_id: str, payload: SuiteRunIn | None = None) -> Status[SuiteRunDetail]:
    """Replay all of its sessions in the background; follow the run at /api/suites/{id}/runs/{number}."""
    who = caller(request, "run")
    also = payload.fail_on if payload else []
    made = running.run(queries.suite_of(who.project, suite_id), by=who.by, also_fail_on=also)
    enqueue(run_replay, *(each.replay_id for each in queries.members_of(made) if each.replay_id is not None))
    return Status(202, _run(made))


@router.post("/{suite_id}/runs/estimate", response=Estimates, summary="Estimate the cost of a run")
def estimate(request: HttpRequest, suite_id: str) -> Estimates:
    """The estimated cost of a run launched now, by model. No model is called."""
    found = queries.estimates_of(queries.suite_of(caller(request, "run").project, suite_id))
    return Estimates.model_construct(estimates=found)


@router.get("/{suite_id}/runs", response=SuiteRunPage, summary="A suite's runs")
def runs(
    request: HttpRequest, suite_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> SuiteRunPage:
    """The runs of a suite, newest first."""
    found = queries.runs_of(queries.suite_of(caller(request, "read").project, suite_id))
    rows, following = paging.ordered_rows(found, limit, after, "-number", paging.number)
    counts = queries.counts_of(rows)
    shown = [SuiteRunOut.of(each, counts[each.id]) for each in rows]
    return SuiteRunPage.model_construct(items=shown, next=following)


@router.get("/{suite_id}/runs/{number}", response=SuiteRunDetail, summary="One run")
def read_run(request: HttpRequest, suite_id: str, number: str) -> SuiteRunDetail:
    """The progress and results of a run (a number or `latest`), with its replays and what was left out."""
    found = queries.run_of(queries.suite_of(caller(request, "read").project, suite_id), number)
    return _run(found)


@router.get("/{suite_id}/runs/{number}/report", response=SuiteReport, summary="What changed")
def report(
    request: HttpRequest,
    suite_id: str,
    number: str,
    change: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> SuiteReport:
    """Every step of the run next to the same step of the previous run; `change` names one kind of change, or `changed` for all.

    There is no report while the run is in progress. See the run for its progress.
    """
    found = queries.run_of(queries.suite_of(caller(request, "read").project, suite_id), number)
    place = 0 if after is None else min(paging.read(after, paging.number), 2**31 - 1)
    shown = report_page(found, kinds=_kinds(change), after=(0, place), limit=paging.checked_limit(limit))
    keys = queries.keys_of(found)
    return SuiteReport.from_attributes(
        found,
        run=found.number,
        previous=found.previous.number if found.previous else None,
        items=[StepChangeOut.of(each, keys) for each in shown.steps],
        next=paging.written([shown.next[1]]) if shown.next else None,
    )


@router.post("/{suite_id}/runs/{number}/cancel", response=SuiteRunDetail, summary="Cancel a run")
def cancel(request: HttpRequest, suite_id: str, number: str) -> SuiteRunDetail:
    """Stop every replay of a run. Running calls end within a few seconds and may have been billed."""
    who = caller(request, "run")
    return _run(running.cancel(queries.run_of(queries.suite_of(who.project, suite_id), number), by=who.by))


def _kinds(change: str | None) -> list[str] | None:
    if change is None:
        return None
    if change == "changed":
        return [each for each in CHANGES if each not in UNCHANGED]
    if change not in CHANGES:
        raise InvalidInput(
            f"`change` must be `changed` or one of {', '.join(CHANGES)}.",
            code="invalid_field",
            field="change",
        )
    return [change]


def _whole(suite: Suite) -> SuiteDetail:
    latest = queries.latest_runs([suite]).get(suite.id)
    shown = None if latest is None else SuiteRunOut.of(latest, queries.counts_of([latest])[latest.id])
    return SuiteDetail.of(suite, shown, events=list(queries.events_of(suite)[:50]))


def _run(found: SuiteRun) -> SuiteRunDetail:
    members = [SuiteMember.of(*each) for each in queries.members_with_divergences(found)]
    return SuiteRunDetail.of(found, queries.counts_of([found])[found.id], members=members)
