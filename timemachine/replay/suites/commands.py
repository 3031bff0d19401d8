"""Commands that change suites: create, edit, delete. Who did it stays in the log, even after the suite is deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.pure.actions import Action
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteSession
from timemachine.replay.suites.plan import StoredSuite, SuitePlan, checked, matching_of
from timemachine.replay.suites.pure.schedule import next_after, read_schedule
from timemachine.replay.suites.queries import named_in, open_run, sessions_of

_RECORDED: Final[dict[str, Action]] = {
    "created": "suite.created",
    "edited": "suite.edited",
    "deleted": "suite.deleted",
}
PLAIN = ("name", "options", "matching", "use_models", "fail_on", "schedule")


def create(project: Project, plan: SuitePlan, *, by: str, suite_id: UUID | None = None) -> Suite:
    """Store a suite; nothing runs yet. The same `suite_id` (a form that was sent twice) returns the same suite.

    Raises: `InvalidInput` for conflicting options, `Unavailable` for a model that cannot be used, `Conflict`
    if the name is taken.
    """
    plan, id_ = checked(project, plan), suite_id or uuid7()
    known = Suite.objects.filter(id=id_, project=project)
    if (made := known.first()) is not None:
        return made
    try:
        with transaction.atomic():
            suite = Suite(id=id_, project=project, created_by=by, **_columns(plan))
            _schedule(suite, now())
            _save(suite, force_insert=True)
            _name_sessions(suite, plan.sessions or ())
            note(suite, "created", by)
    except (IntegrityError, Conflict):
        if (made := known.first()) is not None:  # the same form, sent at the same time, was stored first
            return made
        raise
    return suite


def edit(suite: Suite, plan: SuitePlan, *, by: str) -> Suite:
    """Change the suite to this plan; earlier runs stay as they were. Raises what `create` raises.

    If the plan lists sessions, they replace all that the suite names, including erased ones.
    """
    plan = checked(
        suite.project,
        plan,
        StoredSuite(
            sessions=len(sessions_of(suite)),
            models=suite.use_models,
            schedule=suite.schedule,
            same_sessions=plan.sessions is None and plan.matching == matching_of(suite.matching),
        ),
    )
    with transaction.atomic():
        locked = Suite.objects.select_for_update().get(id=suite.id)
        columns = _columns(plan)
        changed = [name for name in PLAIN if getattr(locked, name) != columns[name]]
        for name in changed:
            setattr(locked, name, columns[name])
        if "schedule" in changed:
            _schedule(locked, now())
        _save(locked)
        if plan.sessions is not None and _rename_sessions(locked, plan.sessions):
            changed.append("sessions")
        if changed:
            note(locked, "edited", by, changed=changed)
    return locked


@transaction.atomic
def delete(suite: Suite, *, by: str) -> int:
    """Delete the suite and its reports, and return how many runs it had. The replays of its runs stay with their sessions.

    Raises: `Conflict` while a run is in progress.
    """
    locked = Suite.objects.select_for_update().get(id=suite.id)
    going = open_run(locked)
    if going is not None:
        raise Conflict(
            f"Run {going.number} of this suite is still in progress. Cancel it or wait for it first.",
            code="suite_running",
        )
    runs = locked.runs.count()
    note(locked, "deleted", by, runs=runs)
    locked.delete()
    return runs


def note(suite: Suite, what: str, by: str, **facts: object) -> None:
    """Store who did what to the suite."""
    SuiteEvent.objects.create(
        project_id=suite.project_id, suite=suite, name=suite.name, what=what, by=by[:254], facts=facts
    )
    if what in _RECORDED:
        record(suite.project_id, _RECORDED[what], "suite", suite.pk, by=by)


def _columns(plan: SuitePlan) -> dict[str, object]:
    return {
        "name": plan.name,
        "options": plan.options.as_json(),
        "matching": plan.matching.as_json() if plan.matching else None,
        "use_models": list(plan.use_models),
        "fail_on": list(plan.fail_on),
        "schedule": plan.schedule,
    }


def _schedule(suite: Suite, moment: datetime) -> None:
    """Start counting the new schedule from this time."""
    suite.problem = None
    if suite.schedule is None:
        suite.schedule_since = suite.next_run_at = None
        return
    suite.schedule_since = moment
    suite.next_run_at = next_after(read_schedule(suite.schedule), moment, moment)


def _save(suite: Suite, *, force_insert: bool = False) -> None:
    try:
        with transaction.atomic():
            suite.save(force_insert=force_insert)
    except IntegrityError as why:
        if "suite_name_once" not in str(why):
            raise
        raise Conflict(
            f"This project already has a suite {suite.name!r}. Choose another name.",
            code="suite_name_taken",
            field="name",
        ) from why


def _rename_sessions(suite: Suite, sessions: Sequence[Session]) -> bool:
    """Name exactly these sessions. Return False if the suite already does."""
    if [each.id for each in sessions] == [each.session_id for each in named_in(suite)]:
        return False
    suite.sessions.all().delete()
    _name_sessions(suite, sessions)
    return True


def _name_sessions(suite: Suite, sessions: Sequence[Session]) -> None:
    SuiteSession.objects.bulk_create(
        SuiteSession(suite=suite, position=position, session=session, key=session.key)
        for position, session in enumerate(sessions)
    )
