"""Reading suites, from the project that asks: their runs, how far one is, what it came to, what changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.postgres_text import is_plain
from timemachine.knowledge import prepared_statements
from timemachine.memory.search.sessions import Wanted, sessions_matching
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.costs import NOTHING, spent_by
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.options import SessionOptions
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import Failure
from timemachine.replay.runs.queries import most_frequent_failures
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteReplay, SuiteRun, SuiteSession
from timemachine.replay.suites.plan import SuitePlan, options_of
from timemachine.replay.suites.pure.matching import Matching, matching_of

LATEST: Final = "latest"
OFFERED: Final = 20
_WENT_WRONG: Final = """
SELECT count(*) FROM tm_suite suite WHERE project_id = %(project)s AND (problem IS NOT NULL OR EXISTS (
    SELECT FROM (SELECT * FROM tm_suite_run WHERE suite_id = suite.id ORDER BY number DESC LIMIT 1) latest
    WHERE due_at IS NOT NULL AND (status = 'failed' OR held <> '[]')
))
"""
_HAS_STEPS: Final = Exists(Action.objects.filter(session=OuterRef("id"), kind__in=("find", "ask")))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """A run counted. `left_out` are replays that could not be launched; money in US dollars, beside calls of unknown price."""

    replays: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0
    steps: Mapping[str, int] = field(default_factory=dict)
    verdicts: Mapping[str, int] = field(default_factory=dict)
    contexts: Mapping[str, int] = field(default_factory=dict)
    retrievals: Mapping[str, int] = field(default_factory=dict)
    cost_usd: Decimal = Decimal(0)
    unknown_cost_calls: int = 0
    uncertain_calls: int = 0
    failure: Failure | None = None

    @property
    def total(self) -> int:
        """How many steps there are."""
        return sum(self.steps.values())

    @property
    def finished(self) -> int:
        """How many of them are over, in whatever way."""
        return sum(self.steps.get(name, 0) for name in TERMINAL_STEP_STATUSES)


def suites_of(project: Project) -> QuerySet[Suite]:
    """The project's suites by name, each with the number of sessions that it names as `sessions_named`."""
    found = Suite.objects.filter(project=project).annotate(sessions_named=Count("sessions"))
    return found.order_by("name", "id")


def suite_of(project: Project, id_or_name: str) -> Suite:
    """The project's suite of that id or name. Raises `NotFound`, the same for another project's."""
    suites = Suite.objects.filter(project=project).select_related("project")
    wanted = uuid_of(id_or_name)
    found = suites.filter(id=wanted).first() if wanted else None
    if found is None and is_plain(id_or_name):
        found = suites.filter(name=id_or_name).first()
    if found is None:
        raise NotFound(
            f"There is no suite {id_or_name[:60]!r} in this project; the list of suites shows those there are.",
            code="suite_not_found",
        )
    return found


def named_in(suite: Suite) -> list[SuiteSession]:
    """The sessions that the suite names, in its order; those that were erased are keys without a session."""
    named = suite.sessions.all()
    if "sessions" not in getattr(suite, "_prefetched_objects_cache", {}):
        named = named.select_related("session")
    return sorted(named, key=lambda each: each.position)


def sessions_of(suite: Suite) -> list[Session]:
    """The sessions that the suite names and that are still there, in its order."""
    return [each.session for each in named_in(suite) if each.session is not None]


def matched_by(suite: Suite) -> QuerySet[Session]:
    """The newest sessions with something to replay that fit what the suite describes now; none where it describes none."""
    matching = matching_of(suite.matching)
    if matching is None:
        return Session.objects.none()
    return sessions_matched(suite.project, matching)


def offered_in(project: Project, chosen: Sequence[str]) -> list[Session]:
    """The chosen sessions in their order, by their ids, then the newest others with something to replay."""
    ids = list(dict.fromkeys(found for each in chosen if (found := uuid_of(each))))
    there = Session.objects.filter(project=project).in_bulk(ids)
    newest = sessions_matching(project, Wanted()).filter(_HAS_STEPS)[:OFFERED]
    return [
        *(there[each] for each in ids if each in there),
        *(each for each in newest if each.id not in there),
    ]


def sessions_matched(project: Project, matching: Matching) -> QuerySet[Session]:
    """The newest sessions of the project with something to replay that fit the description."""
    wanted = Wanted(named=matching.q, agent=matching.agent, user=matching.user, tag=matching.tag)
    found = sessions_matching(project, wanted).filter(_HAS_STEPS)
    return found.select_related("collection")[: matching.most]


def sessions_to_run(suite: Suite) -> list[tuple[str, Session | None]]:
    """The keys and sessions of a run that is launched now: those that are named, then those that match; None was erased."""
    named = suite.sessions.select_related("session__collection").order_by("position")
    found = [(each.key, each.session) for each in named]
    known = {session.id for _, session in found if session is not None}
    return found + [(each.key, each) for each in matched_by(suite) if each.id not in known]


def plan_of(suite: Suite, options: SessionOptions | None = None) -> SuitePlan:
    """The suite as it is now, or with other options, to be edited; the sessions that it names are left as they are."""
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
    """The run that still goes, or of which a replay goes again; None where none does."""
    going = Replay.objects.filter(suite_replay__run=OuterRef("id"), finished_at=None)
    return suite.runs.filter(Q(finished_at=None) | Exists(going)).order_by("-number").first()


def last_done(suite: Suite) -> SuiteRun | None:
    """The last run that was done as the suite is now, as an audit or a debug replay: the verdicts of the two are of different things."""
    done = suite.runs.filter(status="done").order_by("-number").only("id", "options")
    return next((each for each in done if each.kind == suite.kind), None)


def runs_of(suite: Suite) -> QuerySet[SuiteRun]:
    """The suite's runs, the latest first."""
    return SuiteRun.objects.filter(suite=suite).select_related("previous").order_by("-number")


def latest_runs(suites: Sequence[Suite]) -> dict[UUID, SuiteRun]:
    """The latest run of each suite that has one."""
    found = SuiteRun.objects.filter(suite__in=suites).select_related("previous")
    return {run.suite_id: run for run in found.order_by("suite_id", "-number").distinct("suite_id")}


def went_wrong_in(project: Project) -> int:
    """How many suites could not start when they were due, or failed or held a condition in a latest run that was due. One query."""
    return int(prepared_statements.rows(_WENT_WRONG, {"project": project.id})[0][0])


def run_of(suite: Suite, number: int | str) -> SuiteRun:
    """The run of that number, or the `latest`. Raises `NotFound`."""
    runs = runs_of(suite)
    wanted = whole_number(str(number))
    if number == LATEST:
        found = runs.first()
    else:
        found = runs.filter(number=wanted).first() if wanted is not None and wanted < 2**31 else None
    if found is None:
        told = "has not run yet" if number == LATEST else f"has no run {str(number)[:20]}"
        raise NotFound(f"The suite {suite.name} {told}.", code="suite_run_not_found")
    return found


def run_of_replay(replay: Replay) -> SuiteRun | None:
    """The run that launched the replay; None where it was launched otherwise."""
    return SuiteRun.objects.filter(members__replay=replay).select_related("suite").first()


def members_of(run: SuiteRun) -> QuerySet[SuiteReplay]:
    """The run's replays, and what was left out, session by session and model by model."""
    return run.members.select_related("session", "replay").order_by("position", "arm")


def keys_of(run: SuiteRun) -> dict[str, str]:
    """The keys of the sessions of this run and the one before, by their ids."""
    both = [run.id, run.previous_id] if run.previous_id else [run.id]
    named = SuiteReplay.objects.filter(run__in=both).exclude(session=None)
    return {str(session): key for session, key in named.values_list("session_id", "key")}


def events_of(suite: Suite) -> QuerySet[SuiteEvent]:
    """What was done to the suite, the latest first."""
    return SuiteEvent.objects.filter(suite=suite).order_by("-id")


def deletions_in(project: Project) -> QuerySet[SuiteEvent]:
    """The suites that were deleted, the latest first."""
    return SuiteEvent.objects.filter(project=project, what="deleted").order_by("-id")


def counts_of(runs: Sequence[SuiteRun]) -> dict[UUID, RunCounts]:
    """Each of the runs counted. Six queries for any number of them, seven where steps failed, each adding up in the database."""
    ids = [run.id for run in runs]
    steps = ReplayStep.objects.filter(replay__suite_replay__run__in=ids)
    owner = "replay__suite_replay__run_id"
    statuses, verdicts, contexts, retrievals = (
        _grouped(steps, owner, name) for name in ("status", "verdict", "context", "retrieval__verdict")
    )
    replays = _grouped(Replay.objects.filter(suite_replay__run__in=ids), "suite_replay__run_id", "status")
    refused = SuiteReplay.objects.filter(run__in=ids, problem_code__isnull=False)
    left_out = _grouped(refused, "run_id", "problem_code")
    attempts = ReplayAttempt.objects.filter(step__replay__suite_replay__run__in=ids)
    spent = spent_by("step__replay__suite_replay__run_id", attempts)
    failed = any(found.get("failed") for found in statuses.values())
    failures = most_frequent_failures(steps, owner) if failed else {}
    return {
        each: RunCounts(
            replays=replays.get(each, {}),
            left_out=sum(left_out.get(each, {}).values()),
            steps=statuses.get(each, {}),
            verdicts=verdicts.get(each, {}),
            contexts=contexts.get(each, {}),
            retrievals=retrievals.get(each, {}),
            cost_usd=spent.get(each, NOTHING).cost_usd,
            unknown_cost_calls=spent.get(each, NOTHING).unknown_calls,
            uncertain_calls=spent.get(each, NOTHING).uncertain_calls,
            failure=failures.get(each),
        )
        for each in ids
    }


def cancelled_at(run: SuiteRun) -> datetime | None:
    """When the run was cancelled, as its replays know it; None where it was not."""
    if run.cancelled_by is None:
        return None
    asked = Replay.objects.filter(suite_replay__run=run, cancel_requested_by=run.cancelled_by)
    found: datetime | None = asked.aggregate(first=Min("cancel_requested_at"))["first"]
    return found


def over_limit(run: SuiteRun, counts: RunCounts) -> Decimal | None:
    """By how many US dollars the run passed its spend limit; None where it has none."""
    limit = run.options.get("spend_limit_usd")
    return None if limit is None else max(counts.cost_usd - Decimal(str(limit)), Decimal(0))


def revision_of(run: SuiteRun) -> str:
    """Another text after any change of the run."""
    worked = Replay.objects.filter(suite_replay__run=run).aggregate(total=Sum("revision"), number=Count("id"))
    return f"{run.status}-{worked['number']}-{worked['total'] or 0}"


def _grouped(rows: QuerySet[Any], owner: str, name: str) -> dict[UUID, dict[str, int]]:
    found: dict[UUID, dict[str, int]] = {}
    for row in rows.order_by().values(owner, name).annotate(number=Count("id")):
        if row[name] is not None:
            found.setdefault(row[owner], {})[row[name]] = row["number"]
    return found
