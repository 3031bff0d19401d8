"""Commands that change replays: launch, cancel, retry, begin and finish."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import batched
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Model, Q, QuerySet

from timemachine.core.audit.commands import record
from timemachine.core.leases import clear
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.postgres_text import storable
from timemachine.core.row_security import rows_of_every_project
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.branch_ends import end_branch
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.plan import PlannedReplay, Planner, replayable
from timemachine.replay.runs.pure.engine import provider_called
from timemachine.replay.runs.pure.options import ReplayOptions, check_reason
from timemachine.replay.runs.pure.statuses import OPEN_REPLAY_STATUSES, TERMINAL_STEP_STATUSES
from timemachine.replay.runs.selection import recorded

BATCH = 1_000
_WAITING = """
INSERT INTO tm_replay_step (replay_id, action_id, sequence, kind, provider, status, attempts_made)
SELECT *, 'waiting', 0 FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
"""


def launch(session: Session, options: ReplayOptions, *, by: str, replay_id: UUID | None = None) -> Replay:
    """Plan and store a replay of the session with its steps. The caller enqueues it.

    Calling it again with the same `replay_id` (a form that was sent twice) returns the same replay.

    Raises: what `Planner.plan` raises; `InvalidInput` for an audit without a reason; `Conflict` if that id belongs to a different replay. Nothing is stored
    then.
    """
    plan = Planner(session.project_id).plan(session, options, replayable(session))
    if options.audit:
        check_reason(options.reason)
    with transaction.atomic():
        facts = _facts(plan, by=by)
        check_form(Replay, replay_id, session.project_id)
        replay, new = Replay.objects.get_or_create(id=replay_id or uuid7(), defaults=facts)
        if new:
            _write_steps([(replay.id, plan)])
            record(
                session.project_id,
                "replay.launched",
                "replay",
                replay.id,
                by=by,
                session=str(session.id),
                model=replay.model,
            )
        elif replay.session_id != session.id or ReplayOptions(**replay.options) != plan.options:
            raise form_used("replay")
    return replay


def check_form(model: type[Model], row_id: UUID | None, project_id: UUID) -> None:
    """Raise `form_used` if another project has a row with the id of this form, which this project cannot see."""
    with rows_of_every_project():
        owner = model._base_manager.filter(pk=row_id).values_list("project_id", flat=True).first()
    if owner not in (None, project_id):
        raise form_used(str(model._meta.verbose_name))


def form_used(what: str) -> Conflict:
    """Return the error for a form that was sent again with other values after it had launched something."""
    return Conflict(
        f"This form has already launched a different {what}. Send it again to launch this one as well.",
        code="form_used",
    )


@transaction.atomic
def launch_planned(plans: Sequence[PlannedReplay], *, by: str, spend_group: UUID) -> list[Replay]:
    """Store the replays of these plans in one transaction and return them in order.

    They share one spend limit. The caller enqueues them.
    """
    ids = sorted(uuid7() for _ in plans)  # so that lists ordered by id keep this order
    replays = [
        Replay(id=each, spend_group=spend_group, **_facts(plan, by=by))
        for each, plan in zip(ids, plans, strict=True)
    ]
    Replay.objects.bulk_create(replays, batch_size=BATCH)
    _write_steps(zip(ids, plans, strict=True))
    return replays


@transaction.atomic
def cancel(replay: Replay, *, by: str | None = None) -> Replay:
    """Cancel a replay: waiting steps are cancelled immediately, running calls end within seconds.

    The first requester is stored. Raises: `Conflict` if the replay has finished.
    """
    locked = Replay.objects.select_for_update().get(id=replay.id)
    if locked.finished_at is not None:
        raise Conflict(f"This replay has already finished: {locked.status}.", code="replay_over")
    if locked.cancel_requested_at is None:
        locked.cancel_requested_at, locked.cancel_requested_by = now(), by and by[:254]
        locked.save(update_fields=["cancel_requested_at", "cancel_requested_by"])
        record(locked.project_id, "replay.cancelled", "replay", locked.id, by=by or "")
    bump(locked.id)
    return finish_if_done(locked.id)


def cancel_all(replays: QuerySet[Replay], *, by: str | None = None) -> int:
    """Cancel the unfinished ones of these replays, one after the other, and return how many were cancelled."""
    cancelled = 0
    for replay in replays.filter(finished_at=None).order_by("id"):
        with suppress(Conflict):  # it has finished in the meantime
            cancel(replay, by=by)
            cancelled += 1
    return cancelled


@transaction.atomic
def retry(replay: Replay) -> Replay:
    """Let the failed and cancelled steps of a finished replay run again.

    Raises: `Conflict` if the replay is still running or no step failed or was cancelled.
    """
    locked = Replay.objects.select_for_update().get(id=replay.id)
    if locked.finished_at is None:
        raise Conflict("This replay is still running. Wait for it or cancel it first.", code="replay_running")
    failed = locked.steps.filter(status__in=("failed", "cancelled"))
    if not failed.update(
        status="waiting",
        attempts_made=0,
        verdict=None,
        evidence=None,
        error_type=None,
        error_message=None,
        finished_at=None,
    ):
        raise Conflict(
            "No step of this replay failed or was cancelled, so there is nothing to retry.",
            code="nothing_failed",
        )
    record(locked.project_id, "replay.retried", "replay", locked.id)
    return reopen(locked)


def reopen(replay: Replay, **columns: object) -> Replay:
    """Queue a finished replay again, and set these columns. The caller has locked it and enqueues it."""
    reset = {
        "status": "queued",
        "finished_at": None,
        "cancel_requested_at": None,
        "cancel_requested_by": None,
        "enqueued_at": now(),
        **columns,
    }
    for name, value in reset.items():
        setattr(replay, name, value)
    replay.save(update_fields=list(reset))
    bump(replay.id)
    return replay


@transaction.atomic
def begin(replay_id: UUID) -> bool:
    """Mark a replay as running. Return False if it has finished or was erased."""
    replay = Replay.objects.select_for_update().filter(id=replay_id, finished_at=None).first()
    if replay is None:
        return False
    if replay.status == "queued":
        replay.status = "running"
        replay.started_at = replay.started_at or now()
        replay.save(update_fields=["status", "started_at"])
        bump(replay_id)
    return True


@transaction.atomic
def finish_if_done(replay_id: UUID) -> Replay:
    """Close the replay if every step has finished. Safe to call at any time from any worker."""
    replay = Replay.objects.select_for_update().get(id=replay_id)
    if replay.cancel_requested_at is not None:
        _cancel_open_steps(replay)
    if replay.finished_at is None and not replay.steps.exclude(status__in=TERMINAL_STEP_STATUSES).exists():
        replay.status = _outcome(replay)
        replay.finished_at = now()
        replay.save(update_fields=["status", "finished_at"])
        bump(replay_id)
        end_branch(replay)
        replay.refresh_from_db()
    return replay


def overdue() -> QuerySet[Replay]:
    """Return the replays with open steps that no worker is running, and mark the steps whose worker was lost."""
    unfinished = Replay.objects.filter(status__in=OPEN_REPLAY_STATUSES)
    busy = unfinished.filter(steps__status="running", steps__lease_until__gte=now())
    idle = unfinished.exclude(id__in=busy.values("id"))
    _mark_lost(idle)
    return idle


def is_cancelled(replay_id: UUID) -> bool:
    """Return whether cancellation of the replay was requested."""
    with connection.cursor() as cursor:  # runs before every step, and the ORM takes three times as long
        cursor.execute("SELECT cancel_requested_at IS NOT NULL FROM tm_replay WHERE id = %s", [replay_id])
        found: tuple[bool] | None = cursor.fetchone()
    return found == (True,)


def bump(replay_id: UUID) -> None:
    """Increase the replay's revision, so that polling pages notice a change."""
    Replay.objects.filter(id=replay_id).update(revision=F("revision") + 1)


def _facts(plan: PlannedReplay, *, by: str) -> dict[str, object]:
    options = plan.options
    return {
        "project_id": plan.session.project_id,
        "session": plan.session,
        "kind": options.kind,
        "model": options.use_model,
        "options": options.as_json(),
        "reason": options.reason,
        "requested_by": by,
        "enqueued_at": now(),
    }


def _write_steps(plans: Iterable[tuple[UUID, PlannedReplay]]) -> None:
    """Insert the steps of these replays in batches. The ORM sends every column of each row and takes five times as long."""
    rows = (
        (replay_id, each.id, each.sequence, each.kind, _provider(each, plan.options))
        for replay_id, plan in plans
        for each in plan.actions
    )
    with connection.cursor() as cursor:
        for batch in batched(rows, BATCH):
            cursor.execute(_WAITING, [list(column) for column in zip(*batch, strict=True)])


def _provider(action: Action, options: ReplayOptions) -> str | None:
    """Return the provider as Postgres can store it: a recorded name may contain characters that it cannot."""
    called = provider_called(recorded(action), options)
    return None if called is None else storable(called)


def _cancel_open_steps(replay: Replay) -> None:
    """Cancel the steps that no worker is running: those that wait, and those whose worker was lost."""
    lost = Q(status="running", lease_until__lt=now())
    open_ = replay.steps.filter(Q(status__in=("waiting", "uncertain")) | lost)
    # Locked, so that a step that is being claimed is not cancelled between its worker's intent and its call.
    # Rows locked by others are skipped: their workers run this too when they are done.
    ids = list(open_.select_for_update(skip_locked=True).order_by("id").values_list("id", flat=True))
    ReplayAttempt.objects.filter(step__in=ids, outcome=None).update(outcome="lost", finished_at=now())
    clear(replay.steps.filter(id__in=ids), status="cancelled", finished_at=now())


def _outcome(replay: Replay) -> str:
    if replay.cancel_requested_at is not None and replay.steps.filter(status="cancelled").exists():
        return "cancelled"
    return "done" if replay.steps.exclude(status="failed").exists() else "failed"


@transaction.atomic
def _mark_lost(replays: QuerySet[Replay]) -> None:
    """Mark steps whose worker was lost as `uncertain` if a call may have been billed, otherwise as `waiting`."""
    lost = ReplayStep.objects.filter(replay__in=replays, status="running", lease_until__lt=now())
    called = Q(attempts__outcome=None, attempts__call_intended_at__isnull=False)
    uncertain = list(lost.filter(called).values_list("id", flat=True))
    clear(lost.filter(id__in=uncertain), status="uncertain")
    clear(lost, status="waiting")
