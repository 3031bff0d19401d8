"""Running suites: a run launches ordinary replays, started by a person or its schedule, and is closed when they finish."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import batched
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.conditions import SUITE_NAMES, parse_condition, reasons_to_fail
from timemachine.core.pure.errors import Conflict, InvalidInput, TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs import commands as replays
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.plan import READ_TOGETHER, PlannedReplay, Planner, replayable_in
from timemachine.replay.suites.commands import note
from timemachine.replay.suites.models import Suite, SuiteReplay, SuiteRun
from timemachine.replay.suites.plan import condition_of, models_to_ask, options_of
from timemachine.replay.suites.pure.changes import findings
from timemachine.replay.suites.pure.schedule import next_after, read_schedule
from timemachine.replay.suites.queries import counts_of, last_done, open_run, sessions_to_run
from timemachine.replay.suites.reports import changes_of, store
from timemachine.replay.suites.schemas import SuiteRunOut

MAX_DUE_SUITES = 20
"""How many due suites are started at a time. The next sweep starts the others."""
TRY_AGAIN_AFTER = timedelta(hours=1)
"""When a suite is tried again whose schedule cannot be read here."""


def run(suite: Suite, *, by: str, run_id: UUID | None = None, also_fail_on: Sequence[str] = ()) -> SuiteRun:
    """Launch a run: a replay of each of its sessions with each of its models. The caller enqueues them.

    A session that was erased or has nothing to replay is left out, with the reason. The same `run_id` (a form
    that was sent twice) returns the same run.

    Raises: `Conflict` if a run is in progress or that id is another suite's, and the error that kept every
    replay from being launched.
    """
    id_, also = run_id or uuid7(), [condition_of(each) for each in also_fail_on]
    with transaction.atomic():
        locked = Suite.objects.select_for_update().get(id=suite.id)
        known = SuiteRun.objects.filter(id=id_).first()
        if known is not None and known.suite_id != suite.id:
            raise Conflict(
                "This form has already launched a run of another suite. Reload the page to also run this one.",
                code="form_used",
            )
        if known is not None:
            return known
        going = open_run(locked)
        if going is not None:
            raise Conflict(
                f"Run {going.number} of this suite is still in progress. Wait for it or cancel it first.",
                code="suite_running",
                run=going.number,
            )
        fail_on = list(dict.fromkeys([*locked.fail_on, *also]))
        made, refused = _launch(locked, SuiteRun(id=id_, requested_by=by, fail_on=fail_on))
        if refused is not None:
            raise refused
    return made


def due() -> list[UUID]:
    """Return the suites that are due by their schedule, the longest overdue first."""
    found = Suite.objects.filter(next_run_at__lte=now()).order_by("next_run_at")
    return list(found.values_list("id", flat=True)[:MAX_DUE_SUITES])


def run_if_due(suite_id: UUID) -> list[UUID]:
    """Launch the suite if it is due, once however many times were missed, and return the replays to enqueue.

    If its last run is still in progress, none is started, and this is logged. Another error is stored with
    the suite or its run.
    """
    for run_id in unsettled().filter(suite_id=suite_id):
        settle(run_id)
    return _run_if_due(suite_id)


def cancel(found: SuiteRun, *, by: str) -> SuiteRun:
    """Cancel every unfinished replay of the run, one after the other. Raises `Conflict` if all have finished.

    The first requester is stored. If this is interrupted, the other replays continue and it can be requested
    again.
    """
    if not replays.cancel_all(Replay.objects.filter(suite_replay__run=found), by=by):
        raise Conflict(f"This run has already finished: {found.status}.", code="suite_run_over")
    with transaction.atomic():
        SuiteRun.objects.filter(id=found.id, cancelled_by=None).update(cancelled_by=by[:254])
        record(
            found.suite.project_id, "suite.run_cancelled", "suite", found.suite_id, by=by, run=found.number
        )
    settle(found.id)
    found.refresh_from_db()
    return found


@transaction.atomic
def settle(run_id: UUID) -> None:
    """Close the run if its replays have finished, and write what changed. Safe to call at any time, also after a retry."""
    found = SuiteRun.objects.select_for_update().filter(id=run_id).first()
    if found is None or Replay.objects.filter(suite_replay__run=found, finished_at=None).exists():
        return
    _close(found)
    followers = SuiteRun.objects.select_for_update().filter(previous=found, finished_at__isnull=False)
    for follower in followers.order_by("number"):
        _write_findings(follower)


def unsettled() -> QuerySet[SuiteRun, UUID]:
    """Return the ids of the runs whose replays have finished but whose last worker was lost before closing them."""
    going = Replay.objects.filter(suite_replay__run=OuterRef("id"), finished_at=None)
    return SuiteRun.objects.filter(~Exists(going), finished_at=None).values_list("id", flat=True)


def settle_run_of(replay_id: UUID) -> None:
    """Close the run of this replay if this was its last one."""
    for run_id in SuiteRun.objects.filter(members__replay=replay_id).values_list("id", flat=True):
        settle(run_id)


@transaction.atomic
def _run_if_due(suite_id: UUID) -> list[UUID]:
    moment = now()
    found = Suite.objects.select_for_update(skip_locked=True).filter(id=suite_id, next_run_at__lte=moment)
    suite = found.first()
    if suite is None or suite.schedule is None or suite.schedule_since is None:
        return []  # another worker started it, or its schedule was just removed
    was_due = suite.next_run_at
    try:
        suite.next_run_at = next_after(read_schedule(suite.schedule), moment, suite.schedule_since)
        suite.problem = None
    except InvalidInput as why:
        suite.next_run_at, suite.problem = moment + TRY_AGAIN_AFTER, why.message
    suite.save(update_fields=["next_run_at", "problem"])
    if suite.problem is not None:
        return []
    by = f"schedule of {suite.name}"[:254]
    going = open_run(suite)
    if going is not None:
        note(suite, "skipped", by, due=written(was_due), still_going=going.number)
        return []
    made, _ = _launch(suite, SuiteRun(requested_by=by, due_at=was_due, fail_on=suite.fail_on))
    return list(made.members.exclude(replay=None).values_list("replay_id", flat=True))


def _launch(suite: Suite, made: SuiteRun) -> tuple[SuiteRun, TimeMachineError | None]:
    """Save the run with its replays. If none could be launched, return the reason; the run is then closed."""
    made.suite = suite
    made.number = (suite.runs.aggregate(last=Max("number"))["last"] or 0) + 1
    made.options, made.use_models = suite.options, suite.use_models
    made.previous = last_done(suite)
    made.save()
    record(suite.project_id, "suite.run", "suite", suite.pk, by=made.requested_by, run=made.number)
    made.refresh_from_db()
    planner = Planner(suite.project_id)
    problems: list[TimeMachineError] = []
    for together in batched(enumerate(sessions_to_run(suite)), READ_TOGETHER):
        members = [
            SuiteReplay(run=made, position=position, arm=arm, key=key, session=session)
            for position, (key, session) in together
            for arm, _ in enumerate(models_to_ask(suite.use_models), 1)
        ]
        problems += _replay(made, members, planner)
    if made.members.exclude(replay=None).exists():
        return made, None
    _close(made)
    nothing = "No session matches the suite's description, so there is nothing to replay."
    return made, problems[0] if problems else InvalidInput(nothing, code="sessions_needed")


def _replay(made: SuiteRun, members: Sequence[SuiteReplay], planner: Planner) -> list[TimeMachineError]:
    """Save the members with their replays, and return why some could not be launched; each member stores its reason."""
    sessions = {member.session.id: member.session for member in members if member.session is not None}
    actions = {session.id: found for session, found in replayable_in(list(sessions.values()))}
    plans: list[tuple[SuiteReplay, PlannedReplay]] = []
    problems: list[TimeMachineError] = []
    for member in members:
        try:
            plans.append((member, _planned(member, planner, actions)))
        except TimeMachineError as why:
            member.problem_code, member.problem = why.code, why.message
            problems.append(why)
    launched = replays.launch_planned([plan for _, plan in plans], by=made.requested_by, spend_group=made.id)
    for (member, _), replay in zip(plans, launched, strict=True):
        member.replay = replay
    SuiteReplay.objects.bulk_create(members)
    return problems


def _planned(
    member: SuiteReplay, planner: Planner, actions: Mapping[UUID, Sequence[Action]]
) -> PlannedReplay:
    made = member.run
    options = options_of(made.options).with_model(models_to_ask(made.use_models)[member.arm - 1])
    if member.session is None:
        raise InvalidInput(
            f"The session {member.key} was deleted. Edit the suite's sessions to remove it.",
            code="session_missing",
        )
    return planner.plan(member.session, options, actions[member.session.id])


def _close(found: SuiteRun) -> None:
    members = Replay.objects.filter(suite_replay__run=found)
    statuses = set(members.values_list("status", flat=True).distinct())
    found.status = "cancelled" if "cancelled" in statuses else "done" if "done" in statuses else "failed"
    found.finished_at = found.finished_at or members.aggregate(last=Max("finished_at"))["last"] or now()
    found.save(update_fields=["status", "finished_at"])
    _write_findings(found)


def _write_findings(found: SuiteRun) -> None:
    compared = changes_of(found)
    store(found, compared)
    since = findings(compared) if found.previous_id is not None else None
    found.findings = None if since is None else since.model_dump()
    counts = SuiteRunOut.of(found, counts_of([found])[found.id]).model_dump()
    document = counts | {"since": dict(since.counts) if since else {}}
    conditions = [parse_condition(each, SUITE_NAMES) for each in found.fail_on]
    found.held = reasons_to_fail([each for each in conditions if each is not None], document)
    found.save(update_fields=["findings", "held"])
