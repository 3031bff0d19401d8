"""Put an uploaded file batch by batch. If a worker is killed, only its current batch is lost.

A batch, its counts and the place to continue from are one transaction, written only under the lease. Files with the
same URI are put in the order of their upload, because the newer one must win.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import F, Q

from timemachine.core.leases import (
    MOST_ATTEMPTS,
    Lease,
    LeaseLost,
    claim,
    is_free,
    keep_alive,
    since_the_first_claim,
)
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, TimeMachineError
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.models import Collection, Source
from timemachine.knowledge.sources import record_put, store_source
from timemachine.recording.answering import commands as answering
from timemachine.recording.importing.models import DONE, FAILED, RUNNING
from timemachine.recording.importing.worker import note_rejection
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn, Prepared, prepare
from timemachine.recording.intake.queries import on_their_way

BATCH = 100
"""Passages per transaction, for which a search in the collection may have to wait."""
BATCH_CHARACTERS = 2_000_000


def work(intake_id: UUID) -> None:
    """Put the passages of an intake until all are put. Safe to run twice, to run concurrently, and to be killed at any point."""
    lease = _claim(intake_id)
    if lease is None:
        return
    try:
        with keep_alive(lease):  # reading a file may take a minute
            _put_all(lease)
    except LeaseLost:
        return
    except TimeMachineError as why:
        lease.release(
            status=FAILED,
            error_code=why.code,
            error_message=why.message,
            skipped=list(why.facts.get("skipped", [])),
            finished_at=now(),
            revision=F("revision") + 1,
        )
    except DatabaseError as why:  # it may be temporary (a deadlock), so another worker retries
        note_rejection(lease, why, "passages")
        raise


@transaction.atomic
def _claim(intake_id: UUID) -> Lease[Intake] | None:
    """Lease the intake; None if it has finished, another worker has it, or another file with its URI comes first.

    Fail it if its workers stopped three times at the same place.
    """
    collections = Collection.objects.filter(intakes__id=intake_id)
    # so that two files with the same URI are not claimed at the same time
    list(collections.select_for_update(of=("self",), no_key=True).values("id"))
    free = Intake.objects.filter(is_free(), id=intake_id, finished_at=None)
    intake = free.select_for_update().first()
    if intake is None or _comes_later(intake):
        return None
    if intake.attempts >= MOST_ATTEMPTS:
        _give_up(intake)
        return None
    return claim(
        free,
        status=RUNNING,
        began_at=since_the_first_claim(),
        attempts=F("attempts") + 1,
        revision=F("revision") + 1,
    )


def _give_up(intake: Intake) -> None:
    intake.status, intake.finished_at = FAILED, now()
    intake.lease_token = intake.lease_until = None
    if intake.error_message:
        intake.error_message += f" Processing this file was attempted {MOST_ATTEMPTS} times."
    else:
        intake.error_code = "worker_lost"
        intake.error_message = (
            f"The worker stopped {MOST_ATTEMPTS} times while reading this file. It will not be retried. "
            "Check the worker's log; if the file is large, split it."
        )
    intake.save()


def _comes_later(intake: Intake) -> bool:
    """Return whether another file with the URI was started, or uploaded before this one if this one was not started."""
    others = on_their_way(intake.collection, intake.uri or intake.name).exclude(id=intake.id)
    first = Q(attempts__gt=0) if intake.attempts else Q(attempts__gt=0) | Q(id__lt=intake.id)
    return others.filter(first).exists()


def _put_all(lease: Lease[Intake]) -> None:
    intake = Intake.objects.select_related("collection", "session", "payload").get(id=lease.pk)
    file = HandedIn(
        name=intake.name,
        data=intake.payload.data,
        title=intake.title,
        uri=intake.uri,
        replace=intake.replace,
    )
    prepared = prepare(file)
    frames = _begun(lease, intake, prepared)
    place = intake.done
    while place < len(frames):
        batch = _batch(frames, place)
        _put(lease, intake, batch, place)
        place += len(batch)
    _finish(lease, intake, prepared, frames)


@transaction.atomic
def _begun(lease: Lease[Intake], intake: Intake, prepared: Prepared) -> list[NewFrame]:
    """Store the source and return the passages with their places in it."""
    source = None
    if prepared.source is not None:
        source = store_source(intake.collection, prepared.source, by=intake.put_by)
    _write(lease, total=len(prepared.frames), source=source)
    return prepared.of_source(None if source is None else source.id)


def _batch(frames: Sequence[NewFrame], place: int) -> list[NewFrame]:
    batch: list[NewFrame] = []
    remaining = BATCH_CHARACTERS
    for frame in frames[place : place + BATCH]:
        remaining -= len(frame.text)
        if batch and remaining < 0:
            break
        batch.append(frame)
    return batch


@transaction.atomic
def _put(lease: Lease[Intake], intake: Intake, batch: list[NewFrame], place: int) -> None:
    if intake.recorded and intake.session is None:
        raise Conflict("The session that should record this file was deleted.", code="session_ended")
    done = answering.put(intake.collection, batch, by=intake.put_by, session=intake.session)
    new = sum(1 for each in done.puts if not each.already_there)
    _write(
        lease,
        done=place + len(batch),
        new=F("new") + new,
        already_there=F("already_there") + len(batch) - new,
        attempts=1,
    )


@transaction.atomic
def _finish(lease: Lease[Intake], intake: Intake, prepared: Prepared, frames: Sequence[NewFrame]) -> None:
    ended = 0
    source = Source.objects.filter(intakes=intake).select_related("collection").first()
    if source is not None:
        new = Intake.objects.values_list("new", flat=True).get(id=intake.id)
        ended = record_put(source, frames, by=intake.put_by, new=new, replace=prepared.replace).ended
    _write(lease, status=DONE, ended=ended, finished_at=now())
    lease.release()


def _write(lease: Lease[Intake], **changes: Any) -> None:
    """Write at the end of a transaction. Raises `LeaseLost`, which rolls the transaction back."""
    cleared = {"error_code": None, "error_message": None}  # from an earlier attempt
    lease.write(**cleared, **changes, revision=F("revision") + 1)
