"""What changes in sweeps: one is planned, its settings are worked off, it is cancelled."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings as configured
from django.db import transaction
from django.db.models import F, Q, QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.knowledge.query_vectors import searchable_name
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.sweeps.models import TERMINAL_ROW_STATUSES, Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Grid, check_size, settings_of

RING_AGAIN_AFTER = timedelta(seconds=15)
MOST_ATTEMPTS = 3


class RowLost(Exception):
    """Another worker has the row now, or the sweep was cancelled or erased; what this one found is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLease:
    """The right to write one row, once."""

    row_id: int
    token: UUID


def launch(session: Session, grid: Grid, *, by: str, sweep_id: UUID | None = None) -> Sweep:
    """Plan a sweep of the session; a door rings the queue after commit. The same `sweep_id` a second time is the same sweep.

    Without embedding models it is the collection's own. Raises `InvalidInput` for a grid that cannot be, a model without
    vectors, a session without collection, or too many finds, and `Conflict` where that id is of a sweep of something else.
    """
    collection = session.collection
    if collection is None:
        raise InvalidInput(
            "The session names no collection, so nothing can be looked for in it.", code="collection_needed"
        )
    models = grid.embedding_models or (collection.embedding_model,)
    whole = grid.model_copy(
        update={"embedding_models": [searchable_name(collection, name) for name in models]}
    )
    chosen, steps = settings_of(whole), steps_in(session, ReplayOptions())
    check_size(len(chosen), len(steps))
    facts = {
        "project_id": session.project_id,
        "session": session,
        "grid": whole.as_json(),
        "steps": steps,
        "tokenizer": TOKENIZER_NAME,
        "requested_by": by,
        "rung_at": now(),
    }
    with transaction.atomic():
        sweep, new = Sweep.objects.get_or_create(id=sweep_id or uuid7(), defaults=facts)
        if new:
            rows = [
                SweepRow(sweep=sweep, number=number, setting=each.as_json())
                for number, each in enumerate(chosen, 1)
            ]
            SweepRow.objects.bulk_create(rows)
        elif sweep.session_id != session.id or sweep.grid != whole.as_json():
            raise Conflict(
                "This form launched a sweep already, of something else; send it once more to launch this one as well.",
                code="form_used",
            )
    return sweep


@transaction.atomic
def cancel(sweep: Sweep) -> Sweep:
    """Stop a sweep: settings that wait are cancelled at once, one that is measured stops before its next step."""
    locked = Sweep.objects.select_for_update().get(id=sweep.id)
    if locked.finished_at is not None:
        raise Conflict(f"This sweep is over already: {locked.status}.", code="sweep_over")
    locked.cancel_requested_at = now()
    locked.save(update_fields=["cancel_requested_at"])
    locked.rows.exclude(status__in=TERMINAL_ROW_STATUSES).update(
        status="cancelled", finished_at=now(), lease_token=None, lease_until=None
    )
    return finish_if_over(locked.id)


@transaction.atomic
def claim(sweep_id: UUID) -> RowLease | None:
    """The next setting that waits or whose worker was lost, leased; None where there is none. After three lost ones it fails."""
    _lock(Sweep.objects.filter(id=sweep_id))
    free = Q(status="waiting") | Q(status="running", lease_until__lt=now())
    rows = SweepRow.objects.select_for_update(skip_locked=True).filter(free, sweep_id=sweep_id)
    lost = "The worker was lost three times at this setting; it was not tried again."
    rows.filter(attempts_made__gte=MOST_ATTEMPTS).update(
        status="failed", error_message=lost, lease_token=None, lease_until=None, finished_at=now()
    )
    row = rows.order_by("number").first()
    if row is None:
        return None
    lease = RowLease(row_id=row.id, token=uuid4())
    row.status, row.lease_token, row.lease_until = "running", lease.token, until()
    row.attempts_made += 1
    row.save(update_fields=["status", "lease_token", "lease_until", "attempts_made"])
    Sweep.objects.filter(id=sweep_id).update(status="running", revision=F("revision") + 1)
    return lease


def keep(lease: RowLease) -> None:
    """Prolong the lease. Raises `RowLost`."""
    held = SweepRow.objects.filter(id=lease.row_id, lease_token=lease.token, status="running")
    if not held.update(lease_until=until()):
        raise RowLost


@transaction.atomic
def write(lease: RowLease, **came_to: object) -> None:
    """Write what a setting came to, where the lease still holds. Raises `RowLost`."""
    _lock(Sweep.objects.filter(rows=lease.row_id))
    held = SweepRow.objects.filter(id=lease.row_id, lease_token=lease.token, status="running")
    if not held.update(**came_to, lease_token=None, lease_until=None, finished_at=now()):
        raise RowLost
    Sweep.objects.filter(rows=lease.row_id).update(revision=F("revision") + 1)


@transaction.atomic
def finish_if_over(sweep_id: UUID) -> Sweep:
    """Close the sweep once every setting is over; safe to call at any time, by any worker."""
    sweep = Sweep.objects.select_for_update().get(id=sweep_id)
    if sweep.finished_at is None and not sweep.rows.exclude(status__in=TERMINAL_ROW_STATUSES).exists():
        done = sweep.rows.filter(status="done").exists()
        sweep.status = "cancelled" if sweep.cancel_requested_at else "done" if done else "failed"
        sweep.finished_at = now()
        sweep.revision += 1
        sweep.save(update_fields=["status", "finished_at", "revision"])
    return sweep


@transaction.atomic
def due_for_ringing(*, at_once: bool = False) -> list[UUID]:
    """The sweeps that have work to do and nobody at it, marked as rung: the queue may have lost their bell."""
    moment = now()
    unfinished = Sweep.objects.filter(status__in=("queued", "running"))
    busy = unfinished.filter(rows__status="running", rows__lease_until__gte=moment)
    idle = unfinished.exclude(id__in=busy.values("id"))
    if not at_once:
        idle = idle.filter(Q(rung_at=None) | Q(rung_at__lt=moment - RING_AGAIN_AFTER))
    ids = list(idle.values_list("id", flat=True))
    Sweep.objects.filter(id__in=ids).update(rung_at=moment)
    return ids


def _lock(sweeps: QuerySet[Sweep]) -> None:
    """Lock the sweep before its rows, as whoever cancels it does: two that lock in two orders wait for each other for ever."""
    list(sweeps.select_for_update(of=("self",)).values_list("id"))


def until() -> datetime:
    """When a lease that is taken or prolonged now ends."""
    return now() + timedelta(seconds=configured.LEASE_SECONDS)
