"""Queries for a project's suites: their runs, progress, results and changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.postgres_text import is_plain
from timemachine.memory.search.sessions import SessionQuery, sessions_matching
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE
from timemachine.replay.runs.costs import NO_SPENDING, spending_by
from timemachine.replay.runs.estimate import estimate_replays, quick_estimates
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import ReplayOptions, SessionOptions
from timemachine.replay.runs.pure.summary import FirstDivergence, StepTotals
from timemachine.replay.runs.schemas import EstimateOut
from timemachine.replay.runs.tallies import counts_by, first_divergences, most_frequent_failures
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteReplay, SuiteRun, SuiteSession
from timemachine.replay.suites.plan import (
    Matching,
    SuitePlan,
    matching_of,
    models_to_ask,
    options_of,
    runnable,
)

LATEST: Final = "latest"
OFFERED: Final = 20
_WENT_WRONG: Final = """
SELECT count(*) FROM tm_suite suite WHERE project_id = %(project)s AND (problem IS NOT NULL OR EXISTS (
    SELECT FROM (SELECT * FROM tm_suite_run WHERE suite_id = suite.id ORDER BY number DESC LIMIT 1) latest
    WHERE due_at IS NOT NULL AND (status = 'failed' OR held <> '[]')
))
"""
_HAS_STEPS: Final = Exists(
    Action.objects.filter(HAPPENED_HERE, session=OuterRef("id"), kind__in=REPLAYED_KINDS)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts(StepTotals):
    """The counts of a run. `left_out` are replays that could not be launched."""

    replays: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0


def suites_of(project: Project) -> QuerySet[Suite]:
    """Return the project's suites by name, each with the number of sessions that it names as `sessions_named`."""
    found = Suite.objects.filter(project=project).annotate(sessions_named=Count("sessions"))
    return found.order_by("name", "id")


def suite_of(project: Project, id_or_name: str) -> Suite:
    """Return the project's suite with that id or name. Raises `NotFound`, also for another project's."""
    suites = Suite.objects.filter(project=project).select_related("project")
    id_ = uuid_of(id_or_name)
    found = suites.filter(id=id_).first() if id_ else None
    if found is None and is_plain(id_or_name):
        found = suites.filter(name=id_or_name).first()
    if found is None:
        raise NotFound(
            f"There is no suite {id_or_name[:60]!r} in this project; see the list of suites.",
            code="suite_not_found",
        )
    return found


def named_in(suite: Suite) -> list[SuiteSession]:
    """Return the sessions that the suite names, in its order; erased ones are keys without a session."""
    named = suite.sessions.all()
    if "sessions" not in getattr(suite, "_prefetched_objects_cache", {}):
        named = named.select_related("session")
    return sorted(named, key=lambda each: each.position)


def sessions_of(suite: Suite) -> list[Session]:
    """Return the sessions that the suite names and that still exist, in its order."""
    return [each.session for each in named_in(suite) if each.session is not None]


def matched_by(suite: Suite) -> QuerySet[Session]:
    """Return the newest sessions with something to replay that match the suite's description now; none if it has no description."""
    matching = matching_of(suite.matching)
    if matching is None:
        return Session.objects.none()
    return sessions_matched(suite.project, matching)


def offered_in(project: Project, chosen: Sequence[str]) -> list[Session]:
    """Return the chosen sessions in their order, by their ids, then the newest others with something to replay."""
    ids = list(dict.fromkeys(found for each in chosen if (found := uuid_of(each))))
    there = Session.objects.filter(project=project).in_bulk(ids)
    newest = sessions_matching(project, SessionQuery()).filter(_HAS_STEPS)[:OFFERED]
    return [
        *(there[each] for each in ids if each in there),
        *(each for each in newest if each.id not in there),
    ]


def sessions_matched(project: Project, matching: Matching) -> QuerySet[Session]:
    """Return the newest sessions of the project with something to replay that match the description."""
    query = SessionQuery(named=matching.q, agent=matching.agent, user=matching.user, tag=matching.tag)
    found = sessions_matching(project, query).filter(_HAS_STEPS)
    return found.select_related("collection")[: matching.most]


def sessions_to_run(suite: Suite) -> list[tuple[str, Session | None]]:
    """Return the keys and sessions of a run launched now: the named ones, then those that match; None for an erased session."""
    named = suite.sessions.select_related("session__collection").order_by("position")
    found = [(each.key, each.session) for each in named]
    known = {session.id for _, session in found if session is not None}
    return found + [(each.key, each) for each in matched_by(suite) if each.id not in known]


def plan_of(suite: Suite, options: SessionOptions | None = None) -> SuitePlan:
    """Return the suite as a plan for editing, optionally with other options. The named sessions are left unchanged."""
    return SuitePlan(
        name=suite.name,
        sessions=None,
        options=options or options_of(suite.options),
        use_models=tuple(suite.use_models),
        fail_on=tuple(suite.fail_on),
        schedule=suite.schedule,
        matching=matching_of(suite.matching),
    )


def open_run(suite: Suite) -> SuiteRun | None:
    """Return the run in progress, including one with a replay that is being retried; None between runs."""
    going = Replay.objects.filter(suite_replay__run=OuterRef("id"), finished_at=None)
    return suite.runs.filter(Q(finished_at=None) | Exists(going)).order_by("-number").first()


def last_done(suite: Suite) -> SuiteRun | None:
    """Return the last finished run of the suite's current kind (audit or debug), because the verdicts of the two differ in meaning."""
    done = suite.runs.filter(status="done").order_by("-number").only("id", "options")
    return next((each for each in done if each.kind == suite.kind), None)


def runs_of(suite: Suite) -> QuerySet[SuiteRun]:
    """Return the suite's runs, the latest first."""
    return SuiteRun.objects.filter(suite=suite).select_related("previous").order_by("-number")


def latest_runs(suites: Sequence[Suite]) -> dict[UUID, SuiteRun]:
    """Return the latest run of each suite that has one."""
    found = SuiteRun.objects.filter(suite__in=suites).select_related("previous")
    return {run.suite_id: run for run in found.order_by("suite_id", "-number").distinct("suite_id")}


def failing_count(project: Project) -> int:
    """Return how many suites could not start when due, or whose latest due run failed or has failed conditions. One query."""
    return int(prepared_statements.fetch_rows(_WENT_WRONG, {"project": project.id})[0][0])


def run_of(suite: Suite, number: int | str) -> SuiteRun:
    """Return the run with that number, or the `latest`. Raises `NotFound`."""
    runs = runs_of(suite)
    number_ = whole_number(str(number))
    if number == LATEST:
        found = runs.first()
    else:
        found = runs.filter(number=number_).first() if number_ is not None and number_ < 2**31 else None
    if found is None:
        problem = "has not run yet" if number == LATEST else f"has no run {str(number)[:20]}"
        raise NotFound(f"The suite {suite.name} {problem}.", code="suite_run_not_found")
    return found


def run_of_replay(replay: Replay) -> SuiteRun | None:
    """Return the run that launched the replay; None if something else did."""
    return SuiteRun.objects.filter(members__replay=replay).select_related("suite").first()


def members_with_divergences(run: SuiteRun) -> list[tuple[SuiteReplay, FirstDivergence | None]]:
    """Return what the run replays, each with the first step in which it does something else than the recording. Two queries."""
    found = first_divergences(ReplayStep.objects.filter(replay__suite_replay__run=run))
    return [(each, None if each.replay_id is None else found.get(each.replay_id)) for each in members_of(run)]


def members_of(run: SuiteRun) -> QuerySet[SuiteReplay]:
    """Return the run's replays and what was left out, by session and model."""
    return run.members.select_related("session", "replay").order_by("position", "arm")


def keys_of(run: SuiteRun) -> dict[str, str]:
    """Return the keys of the sessions of this run and the previous one, by their ids."""
    both = [run.id, run.previous_id] if run.previous_id else [run.id]
    named = SuiteReplay.objects.filter(run__in=both).exclude(session=None)
    return {str(session): key for session, key in named.values_list("session_id", "key")}


def events_of(suite: Suite) -> QuerySet[SuiteEvent]:
    """Return the suite's log, the latest event first."""
    return SuiteEvent.objects.filter(suite=suite).order_by("-id")


def deletions_in(project: Project) -> QuerySet[SuiteEvent]:
    """Return the deleted suites, the latest first."""
    return SuiteEvent.objects.filter(project=project, what="deleted").order_by("-id")


def counts_of(runs: Sequence[SuiteRun]) -> dict[UUID, RunCounts]:
    """Return the counts of each run. Six queries, seven if steps failed; the database does the adding."""
    ids = [run.id for run in runs]
    steps = ReplayStep.objects.filter(replay__suite_replay__run__in=ids)
    owner = "replay__suite_replay__run_id"
    statuses, verdicts, contexts, retrievals = (
        counts_by(owner, name, steps) for name in ("status", "verdict", "context", "retrieval__verdict")
    )
    replays = counts_by("suite_replay__run_id", "status", Replay.objects.filter(suite_replay__run__in=ids))
    refused = SuiteReplay.objects.filter(run__in=ids, problem_code__isnull=False)
    left_out = counts_by("run_id", "problem_code", refused)
    attempts = ReplayAttempt.objects.filter(step__replay__suite_replay__run__in=ids)
    spent = spending_by("step__replay__suite_replay__run_id", attempts)
    failed = any(found.get("failed") for found in statuses.values())
    failures = most_frequent_failures(steps, owner) if failed else {}
    return {
        each: RunCounts(
            replays=replays.get(each, {}),
            left_out=sum(left_out.get(each, {}).values()),
            statuses=statuses.get(each, {}),
            verdicts=verdicts.get(each, {}),
            contexts=contexts.get(each, {}),
            retrievals=retrievals.get(each, {}),
            cost_usd=spent.get(each, NO_SPENDING).cost_usd,
            unknown_cost_calls=spent.get(each, NO_SPENDING).unknown_calls,
            uncertain_calls=spent.get(each, NO_SPENDING).uncertain_calls,
            failure=failures.get(each),
        )
        for each in ids
    }


def cancelled_at(run: SuiteRun) -> datetime | None:
    """Return when the run was cancelled, according to its replays; None if it was not."""
    if run.cancelled_by is None:
        return None
    cancelled = Replay.objects.filter(suite_replay__run=run, cancel_requested_by=run.cancelled_by)
    found: datetime | None = cancelled.aggregate(first=Min("cancel_requested_at"))["first"]
    return found


def over_limit(run: SuiteRun, counts: RunCounts) -> Decimal | None:
    """Return by how many US dollars the run exceeded its spend limit; None if it has none."""
    limit = run.options.get("spend_limit_usd")
    return None if limit is None else max(counts.cost_usd - Decimal(str(limit)), Decimal(0))


def revision_of(run: SuiteRun) -> str:
    """Return a text that changes with any change of the run."""
    worked = Replay.objects.filter(suite_replay__run=run).aggregate(total=Sum("revision"), number=Count("id"))
    return f"{run.status}-{worked['number']}-{worked['total'] or 0}"


def estimates(project: Project, plan: SuitePlan) -> tuple[list[EstimateOut], int]:
    """Return an estimate for each model of the plan, over its sessions and those that match now, and of how many steps one was
    read for it. Raises what `commands.create` raises, but needs no name and no reason."""
    plan = runnable(project, plan)
    matched = [] if plan.matching is None else sessions_matched(project, plan.matching)
    sessions = {each.id: each for each in [*(plan.sessions or ()), *matched]}
    return quick_estimates(list(sessions.values()), _options_list(plan))


def estimates_of(suite: Suite) -> list[EstimateOut]:
    """Return an estimate for each model of the suite as it is now. Raises `InvalidInput` and `Unavailable`."""
    plan = plan_of(suite)
    sessions = [each for _, each in sessions_to_run(suite) if each is not None]
    return estimate_replays(sessions, _options_list(plan))


def _options_list(plan: SuitePlan) -> list[ReplayOptions]:
    return [plan.options.with_model(each) for each in models_to_ask(plan.use_models)]
