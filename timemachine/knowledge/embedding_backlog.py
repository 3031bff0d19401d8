"""Vectors that are made after their frames: of slow models, and of a model that is to replace another.

What is missing stands in rows (`EmbeddingWork`); a worker holds one by a lease, makes vectors batch by batch, and each batch
is kept as it is made. So a worker may be killed at any point, and another goes on where it was. What a server refuses stands
in rows too (`RefusedFrame`) and holds up nothing. Whoever changes what a collection needs or has locks the collection first,
then frames, then the row of work.
"""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import Q, QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import ModelFailed, TimeMachineError
from timemachine.core.pure.heartbeat import heartbeat
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import EmbeddingModel
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame
from timemachine.knowledge.vectors import keep_refusal, keep_vectors, waiting
from timemachine.llm.embedding_server import refuses_texts

TURN_SECONDS = 20.0
"""How long a job works on one collection before it queues behind the others again."""
LOOKED_UP = 1_000
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=10)
RING_AGAIN_AFTER = timedelta(seconds=15)


class LeaseLost(Exception):
    """Another worker has the row now, or it is gone; what this one made is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    work_id: int
    collection_id: UUID
    token: UUID


def note_missing(collection: Collection) -> None:
    """Write down that vectors of the collection's own model are missing. Call it in the transaction that adds the frames."""
    work = EmbeddingWork(collection=collection, model=collection.embedding_model)
    EmbeddingWork.objects.bulk_create([work], ignore_conflicts=True)


def is_due(collection_id: UUID) -> bool:
    """Whether the collection lacks vectors and nobody is at it."""
    return _free().filter(collection_id=collection_id).exists()


def due_for_ringing(*, at_once: bool = False) -> list[UUID]:
    """The collections that lack vectors and nobody is at it, marked as rung: the queue may have lost their bell.

    `at_once` (a worker has just started) does not wait for the last ringing to grow old.
    """
    unheld = _free()
    if not at_once:
        unheld = unheld.filter(Q(rung_at=None) | Q(rung_at__lt=now() - RING_AGAIN_AFTER))
    found = dict(unheld.values_list("id", "collection_id"))
    EmbeddingWork.objects.filter(id__in=list(found)).update(rung_at=now())
    return list(dict.fromkeys(found.values()))


def work_off(collection_id: UUID, seconds: float = TURN_SECONDS) -> bool:
    """Make vectors that the collection lacks, at most about so long; True where there is more to do at once.

    Safe to run twice, at the same time, and to be killed at any point.
    """
    until = time.monotonic() + seconds
    while (lease := _claim(collection_id)) is not None:
        try:
            with _kept(lease):
                complete = _turn(lease, until)
        except LeaseLost:
            continue
        except TimeMachineError as failed:
            _put_off(lease, failed)
            continue
        except DatabaseError as why:
            _put_off(lease, _not_kept(why))
            continue
        if not complete:
            _let_go(lease)
            return True
    return False


def _turn(lease: _Lease, until: float) -> bool:
    """Whether nothing is missing any more: then the row of work is gone."""
    model = _settled(lease)
    while True:
        ids = _missing(lease, model)
        if not ids and _completed(lease, model):
            return True
        _embed_all(lease, model, ids, until)
        if time.monotonic() > until:
            return False


def _settled(lease: _Lease) -> EmbeddingModel:
    """The model with its full name, which is written down where it was not known before."""
    model = table.named(EmbeddingWork.objects.values_list("model", flat=True).get(id=lease.work_id))
    table.require_usable(model)
    full = table.settled(model)
    if full.name != model.name:
        _rename(lease, model.name, full.name)
    return full


@transaction.atomic
def _rename(lease: _Lease, old: str, new: str) -> None:
    collection = Collection.objects.select_for_update().get(id=lease.collection_id)
    work = _owned(lease)
    EmbeddingWork.objects.filter(collection=collection, model=new).delete()
    work.model = new
    work.save(update_fields=["model"])
    Collection.objects.filter(id=collection.id, embedding_model=old).update(embedding_model=new)


def _missing(lease: _Lease, model: EmbeddingModel) -> list[int]:
    """The next frames to see: those that stand before those that ended, older ones first."""
    frames = Frame.objects.filter(collection_id=lease.collection_id)
    missing = waiting(frames, model.name).values_list("id", flat=True)
    standing = list(missing.filter(valid_until=None).order_by("id")[:LOOKED_UP])
    return standing or list(missing.order_by("id")[:LOOKED_UP])


def _embed_all(lease: _Lease, model: EmbeddingModel, ids: Sequence[int], until: float) -> None:
    """Batch after batch while there is time, and at least one."""
    for first in range(0, len(ids), model.batch):
        _embed(lease, model, ids[first : first + model.batch])
        if time.monotonic() > until:
            return


def _embed(lease: _Lease, model: EmbeddingModel, ids: Sequence[int]) -> None:
    """Embed these frames; where the server refuses them, by halves, so that one bad text stops no other."""
    frames = list(Frame.objects.filter(id__in=ids).only("id", "number", "search_title", "search_text"))
    try:
        vectors = model.embed([_text(frame) for frame in frames])
    except ModelFailed as failed:
        if not refuses_texts(failed):
            raise
        if len(ids) > 1:
            for half in (ids[: len(ids) // 2], ids[len(ids) // 2 :]):
                _embed(lease, model, half)
            return
        # Or one that refuses everything (no model is loaded) would be taken for one that refuses this text.
        table.probe(model)
        _keep_refused(lease, model, frames[0], failed)
        return
    _keep(lease, model, frames, vectors)


@transaction.atomic
def _keep(lease: _Lease, model: EmbeddingModel, frames: Sequence[Frame], vectors: table.Vectors) -> None:
    keep_vectors(_held(lease.collection_id), model.name, frames, vectors)
    _went_on(lease)


@transaction.atomic
def _keep_refused(lease: _Lease, model: EmbeddingModel, frame: Frame, failed: ModelFailed) -> None:
    keep_refusal(_held(lease.collection_id), model.name, frame, _reason(failed))
    _went_on(lease)


def _reason(failed: ModelFailed) -> str:
    """The status and the server's own words, without our advice, which is for those who ask a question."""
    said = failed.facts.get("provider_error", {}).get("message")
    return f"it answered {failed.facts['status']}: {said}" if said else failed.message


def _went_on(lease: _Lease) -> None:
    work = _owned(lease)
    work.failures, work.error_code, work.error_message = 0, None, None
    work.lease_until = _until()
    work.save(update_fields=["failures", "error_code", "error_message", "lease_until"])


@transaction.atomic
def _completed(lease: _Lease, model: EmbeddingModel) -> bool:
    """Close the row of work where, while no put can add one, no frame waits for a vector; a replacement becomes the model."""
    collection = Collection.objects.select_for_update().get(id=lease.collection_id)
    work = _owned(lease)
    if waiting(Frame.objects.filter(collection=collection), model.name).exists():
        return False
    if work.replaces:
        Collection.objects.filter(id=collection.id).update(embedding_model=model.name)
        EmbeddingWork.objects.filter(collection=collection).delete()
    else:
        work.delete()
    return True


def _text(frame: Frame) -> str:
    return f"{frame.search_title}\n{frame.search_text}" if frame.search_title else frame.search_text


# --- who is at it


def _free() -> QuerySet[EmbeddingWork]:
    moment = now()
    idle = Q(lease_until=None) | Q(lease_until__lt=moment)
    return EmbeddingWork.objects.filter(idle, Q(not_before=None) | Q(not_before__lte=moment))


@transaction.atomic
def _claim(collection_id: UUID) -> _Lease | None:
    """The work that fills the collection's own model goes first."""
    unheld = _free().filter(collection_id=collection_id).select_for_update(skip_locked=True)
    work = unheld.order_by("replaces", "id").first()
    if work is None:
        return None
    work.lease_token, work.lease_until = uuid4(), _until()
    work.save(update_fields=["lease_token", "lease_until"])
    return _Lease(work_id=work.id, collection_id=collection_id, token=work.lease_token)


def _owned(lease: _Lease) -> EmbeddingWork:
    """The row, locked, if the lease still holds. Raises `LeaseLost`."""
    rows = EmbeddingWork.objects.select_for_update()
    work = rows.filter(id=lease.work_id, lease_token=lease.token).first()
    if work is None:
        raise LeaseLost
    return work


def _held(collection_id: UUID) -> Collection:
    """The collection, which cannot be erased or changed by a put until this transaction ends. Raises `LeaseLost`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tm_collection WHERE id = %s FOR KEY SHARE", [collection_id])
        if cursor.fetchone() is None:
            raise LeaseLost
    return Collection(id=collection_id)


def _let_go(lease: _Lease) -> None:
    EmbeddingWork.objects.filter(id=lease.work_id, lease_token=lease.token).update(
        lease_token=None, lease_until=None, rung_at=now()
    )


def _not_kept(why: DatabaseError) -> TimeMachineError:
    first_line = str(why).partition("\n")[0]
    return TimeMachineError(f"The database did not take the vectors: {first_line}", code="not_kept")


def _put_off(lease: _Lease, failed: TimeMachineError) -> None:
    """Write down why it failed, and try again later each time."""
    with transaction.atomic():
        work = (
            EmbeddingWork.objects.select_for_update()
            .filter(id=lease.work_id, lease_token=lease.token)
            .first()
        )
        if work is None:
            return
        work.lease_token = work.lease_until = None
        work.not_before = now() + min(FIRST_PAUSE * 2 ** min(work.failures, 10), LONGEST_PAUSE)
        work.failures += 1
        work.error_code, work.error_message = failed.code, searchable(failed.message)
        work.save()


def _until() -> datetime:
    return now() + timedelta(seconds=settings.LEASE_SECONDS)


def _kept(lease: _Lease) -> AbstractContextManager[None]:
    """Keep the lease alive while the block runs: a batch of long passages, or a slow server, may take minutes."""
    held = EmbeddingWork.objects.filter(id=lease.work_id, lease_token=lease.token)
    return heartbeat(
        lambda: held.update(lease_until=_until()),
        every=settings.LEASE_SECONDS / 4,
        at_end=connections.close_all,  # those of its own thread
    )
