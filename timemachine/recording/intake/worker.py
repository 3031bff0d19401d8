"""Working on an intake: its file is read, its passages are put batch by batch. A killed worker costs the batch it was at.

A batch, its counts and the place to go on from are one transaction, written only under the lease. Files of one uri are put one
after the other, in the order in which they were handed in: the newer one is to have the last word.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import F, Q

from timemachine.core.leases import MOST_ATTEMPTS, Lease, LeaseLost, claim, is_free, keep_alive
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, TimeMachineError
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.models import Collection, Source
from timemachine.knowledge.sources import keep_source, note_put
from timemachine.recording.answering import commands as answering
from timemachine.recording.intake.models import DONE, FAILED, RUNNING, Intake
from timemachine.recording.intake.preparing import HandedIn, Prepared, prepare
from timemachine.recording.intake.queries import on_their_way

BATCH = 100
"""Passages of one transaction, for which a find in the collection may have to wait."""
BATCH_CHARACTERS = 2_000_000


def work(intake_id: UUID) -> None:
    """Put the passages of an intake until all are put. Safe to run twice, at the same time, and to be killed at any point."""
    lease = _claim(intake_id)
    if lease is None:
        return
    try:
        with keep_alive(lease):  # reading a file may take a minute
            _put_all(lease)
    except LeaseLost:
        return
    except TimeMachineError as why:
        _fail(lease, why)
    except DatabaseError as why:  # it may pass (a deadlock), so another worker tries again
        _note(lease, why)
        raise


@transaction.atomic
def _claim(intake_id: UUID) -> Lease[Intake] | None:
    """Lease the intake; None if it has finished, another worker has it, or another file of its uri comes first.

    The third worker lost at one place ends it.
    """
    _lock_collection(intake_id)
    free = Intake.objects.filter(is_free(), id=intake_id, finished_at=None)
    intake = free.select_for_update().first()
    if intake is None or _comes_later(intake):
        return None
    if intake.attempts >= MOST_ATTEMPTS:
        _give_up(intake)
        return None
    return claim(free, status=RUNNING, attempts=F("attempts") + 1, revision=F("revision") + 1)


def _give_up(intake: Intake) -> None:
    intake.status, intake.finished_at = FAILED, now()
    intake.lease_token = intake.lease_until = None
    if intake.error_message:
        intake.error_message += f" The file was tried {MOST_ATTEMPTS} times."
    else:
        intake.error_code = "worker_lost"
        intake.error_message = (
            f"The worker was lost {MOST_ATTEMPTS} times at this file; it was not tried again. Its log may say why; "
            "where the file is large, split it."
        )
    intake.save()


def _lock_collection(intake_id: UUID) -> None:
    """Two files of one uri are not claimed at the same time."""
    collections = Collection.objects.filter(intakes__id=intake_id)
    list(collections.select_for_update(of=("self",), no_key=True).values("id"))


def _comes_later(intake: Intake) -> bool:
    """Whether another file of the uri was begun, or was handed in before this one that was not begun itself."""
    others = on_their_way(intake.collection, intake.uri or intake.name).exclude(id=intake.id)
    first = Q(attempts__gt=0) if intake.attempts else Q(attempts__gt=0) | Q(id__lt=intake.id)
    return others.filter(first).exists()


def _put_all(lease: Lease[Intake]) -> None:
    intake = Intake.objects.select_related("collection", "session", "payload").get(id=lease.pk)
    prepared = prepare(_file(intake))
    frames = _begun(lease, intake, prepared)
    place = intake.done
    while place < len(frames):
        batch = _batch(frames, place)
        _put(lease, intake, batch, place)
        place += len(batch)
    _finish(lease, intake, prepared, frames)


def _file(intake: Intake) -> HandedIn:
    data = bytes(intake.payload.data)
    return HandedIn(name=intake.name, data=data, title=intake.title, uri=intake.uri, replace=intake.replace)


@transaction.atomic
def _begun(lease: Lease[Intake], intake: Intake, prepared: Prepared) -> list[NewFrame]:
    """The passages with their source, which stands from here on."""
    source = None
    if prepared.source is not None:
        source = keep_source(intake.collection, prepared.source, by=intake.put_by)
    _write(lease, total=len(prepared.frames), source=source)
    return prepared.of_source(None if source is None else source.id)


def _batch(frames: Sequence[NewFrame], place: int) -> list[NewFrame]:
    batch: list[NewFrame] = []
    room = BATCH_CHARACTERS
    for frame in frames[place : place + BATCH]:
        room -= len(frame.text)
        if batch and room < 0:
            break
        batch.append(frame)
    return batch


@transaction.atomic
def _put(lease: Lease[Intake], intake: Intake, batch: list[NewFrame], place: int) -> None:
    if intake.recorded and intake.session is None:
        raise Conflict("The session that was to record it was deleted.", code="session_ended")
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
        ended = note_put(source, frames, by=intake.put_by, new=new, replace=prepared.replace).ended
    _write(lease, status=DONE, ended=ended, finished_at=now())
    lease.release()


def _fail(lease: Lease[Intake], why: TimeMachineError) -> None:
    lease.release(
        status=FAILED,
        error_code=why.code,
        error_message=why.message,
        skipped=list(why.facts.get("skipped", [])),
        finished_at=now(),
        revision=F("revision") + 1,
    )


def _note(lease: Lease[Intake], why: DatabaseError) -> None:
    """Write down why a try failed, in case it is the last."""
    first_line = str(why).partition("\n")[0]
    message = f"The database did not take the passages: {first_line.rstrip('.')}."
    lease.held().update(error_code="not_kept", error_message=message)


def _write(lease: Lease[Intake], **changes: Any) -> None:
    """Write at the end of a transaction. Raises `LeaseLost`: then nothing of the transaction stands."""
    told = {"error_code": None, "error_message": None}  # of an earlier try
    lease.write(**told, **changes, revision=F("revision") + 1)
