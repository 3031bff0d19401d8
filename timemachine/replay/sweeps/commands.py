"""Commands that change sweeps: launch, claim and write settings, cancel, finish."""

from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from timemachine.core import leases
from timemachine.core.audit.commands import record
from timemachine.core.leases import MOST_ATTEMPTS, Lease, LeaseLost
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.knowledge.vectors import stored_model_name
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.commands import check_form, form_used
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.sweeps.models import TERMINAL_ROW_STATUSES, Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Grid, Setting, check_size, settings_of


def launch(session: Session, grid: Grid, *, by: str, sweep_id: UUID | None = None) -> Sweep:
    """Plan and store a sweep of the session. The caller enqueues it. The same `sweep_id` returns the same sweep.

    Without embedding models, the collection's own is used.

    Raises: `InvalidInput` for an invalid grid, a model without vectors, a session without a collection, or
    too many finds; `Conflict` if that id belongs to a different sweep.
    """
    whole, chosen, steps = planned(session, grid)
    facts = {
        "project_id": session.project_id,
        "session": session,
        "grid": whole.model_dump(mode="json"),
        "steps": steps,
        "tokenizer": TOKENIZER_NAME,
        "requested_by": by,
        "enqueued_at": now(),
    }
    with transaction.atomic():
        check_form(Sweep, sweep_id, session.project_id)
        sweep, new = Sweep.objects.get_or_create(id=sweep_id or uuid7(), defaults=facts)
        if new:
            rows = [
                SweepRow(sweep=sweep, number=number, setting=each.model_dump())
                for number, each in enumerate(chosen, 1)
            ]
            SweepRow.objects.bulk_create(rows)
            record(session.project_id, "sweep.launched", "sweep", sweep.id, by=by, session=str(session.id))
        elif sweep.session_id != session.id or sweep.grid != facts["grid"]:
            raise form_used("sweep")
    return sweep


def planned(session: Session, grid: Grid) -> tuple[Grid, list[Setting], list[int]]:
    """Return the complete grid, its settings, and the steps to measure them at. Raises `InvalidInput` as `launch` does."""
    collection = session.collection
    if collection is None:
        raise InvalidInput("The session has no collection to search in.", code="collection_needed")
    models = grid.embedding_models or (collection.embedding_model,)
    whole = grid.model_copy(
        update={"embedding_models": [stored_model_name(collection, name) for name in models]}
    )
    chosen, steps = settings_of(whole), steps_in(session, ReplayOptions(skip_calls=True))
    check_size(len(chosen), len(steps))
    return whole, chosen, steps


@transaction.atomic
def cancel(sweep: Sweep) -> Sweep:
    """Cancel a sweep: waiting settings are cancelled immediately, a running one stops before its next step."""
    locked = Sweep.objects.select_for_update().get(id=sweep.id)
    if locked.finished_at is not None:
        raise Conflict(f"This sweep has already finished: {locked.status}.", code="sweep_over")
    locked.cancel_requested_at = now()
    locked.save(update_fields=["cancel_requested_at"])
    record(locked.project_id, "sweep.cancelled", "sweep", locked.id)
    unfinished = locked.rows.exclude(status__in=TERMINAL_ROW_STATUSES)
    leases.clear(unfinished, status="cancelled", finished_at=now())
    return finish_if_done(locked.id)


@transaction.atomic
def claim(sweep_id: UUID) -> Lease[SweepRow] | None:
    """Lease the next setting that waits or whose worker was lost; None if no setting waits. A setting that lost three workers fails."""
    _lock(Sweep.objects.filter(id=sweep_id))
    rows = SweepRow.objects.filter(sweep_id=sweep_id, status__in=("waiting", "running"))
    lost = "The worker stopped 3 times at this setting. It will not be retried."
    given_up = rows.filter(leases.is_free(), attempts_made__gte=MOST_ATTEMPTS)
    leases.clear(given_up, status="failed", error_message=lost, finished_at=now())
    lease = leases.claim(rows.order_by("number"), status="running", attempts_made=F("attempts_made") + 1)
    if lease is not None:
        Sweep.objects.filter(id=sweep_id).update(
            status="running", began_at=leases.since_the_first_claim(), revision=F("revision") + 1
        )
    return lease


@transaction.atomic
def write(lease: Lease[SweepRow], **came_to: object) -> None:
    """Write the result of a setting. Raises `LeaseLost` if another worker has it, or the sweep was cancelled or erased."""
    _lock(Sweep.objects.filter(rows=lease.pk))
    if not lease.release(**came_to, finished_at=now()):
        raise LeaseLost
    Sweep.objects.filter(rows=lease.pk).update(revision=F("revision") + 1)


@transaction.atomic
def finish_if_done(sweep_id: UUID) -> Sweep:
    """Close the sweep if every setting has finished. Safe to call at any time from any worker."""
    sweep = Sweep.objects.select_for_update().get(id=sweep_id)
    if sweep.finished_at is None and not sweep.rows.exclude(status__in=TERMINAL_ROW_STATUSES).exists():
        done = sweep.rows.filter(status="done").exists()
        sweep.status = "cancelled" if sweep.cancel_requested_at else "done" if done else "failed"
        sweep.finished_at = now()
        sweep.revision += 1
        sweep.save(update_fields=["status", "finished_at", "revision"])
    return sweep


def overdue() -> QuerySet[Sweep]:
    """Return the sweeps with work to do that no worker has."""
    unfinished = Sweep.objects.filter(status__in=("queued", "running"))
    busy = unfinished.filter(rows__status="running", rows__lease_until__gte=now())
    return unfinished.exclude(id__in=busy.values("id"))


def _lock(sweeps: QuerySet[Sweep]) -> None:
    """Lock the sweep before its rows, in the same order as `cancel`: two different orders would deadlock."""
    list(sweeps.select_for_update(of=("self",)).values_list("id"))
