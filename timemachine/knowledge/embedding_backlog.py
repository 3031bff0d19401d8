"""Vectors that are made after their frames: of slow models, and of a model that is to replace another.

What is missing stands in rows (`EmbeddingWork`); a worker holds one by a lease, makes vectors batch by batch, and each batch
is kept as it is made. So a worker may be killed at any point, and another goes on where it was. What a server refuses stands
in rows too (`RefusedFrame`) and holds up nothing. Whoever changes what a collection needs or has locks the collection first,
then frames, then the row of work.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet

from timemachine.core.leases import Lease, LeaseLost, claim, keep_alive, mark_enqueued
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import ModelFailed, TimeMachineError
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import EmbeddingModel
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame
from timemachine.knowledge.vectors import keep_refusal, keep_vectors, waiting
from timemachine.llm.embedding_server import refuses_texts

TURN_SECONDS = 20.0
"""How long a job works on one collection before it is enqueued after the others again."""
LOOKED_UP = 1_000
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkLease(Lease[EmbeddingWork]):
    collection_id: UUID


def note_missing(collection: Collection) -> None:
    """Write down that vectors of the collection's own model are missing. Call it in the transaction that adds the frames."""
    work = EmbeddingWork(collection=collection, model=collection.embedding_model)
    EmbeddingWork.objects.bulk_create([work], ignore_conflicts=True)


def is_due(collection_id: UUID) -> bool:
    """Return whether the collection lacks vectors and its work is to be enqueued."""
    return bool(mark_enqueued(overdue().filter(collection_id=collection_id)))


def overdue() -> QuerySet[EmbeddingWork]:
    """Return the work on collections that lack vectors, unless it is put off."""
    return EmbeddingWork.objects.filter(Q(not_before=None) | Q(not_before__lte=now()))


def work_off(collection_id: UUID, seconds: float = TURN_SECONDS) -> bool:
    """Make vectors that the collection lacks, at most about so long; True where there is more to do at once.

    Safe to run twice, at the same time, and to be killed at any point.
    """
    until = time.monotonic() + seconds
    while (lease := _claim(collection_id)) is not None:
        try:
            with keep_alive(lease):  # a batch of long passages, or a slow server, may take minutes
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
            lease.release()
            return True
    return False


def _turn(lease: _WorkLease, until: float) -> bool:
    """Whether nothing is missing any more: then the row of work is gone."""
    model = _settled(lease)
    while True:
        ids = _missing(lease, model)
        if not ids and _completed(lease, model):
            return True
        _embed_all(lease, model, ids, until)
        if time.monotonic() > until:
            return False


def _settled(lease: _WorkLease) -> EmbeddingModel:
    """The model with its full name, which is written down where it was not known before."""
    model = table.named(EmbeddingWork.objects.values_list("model", flat=True).get(id=lease.pk))
    table.require_usable(model)
    full = table.settled(model)
    if full.name != model.name:
        _rename(lease, model.name, full.name)
    return full


@transaction.atomic
def _rename(lease: _WorkLease, old: str, new: str) -> None:
    collection = Collection.objects.select_for_update().get(id=lease.collection_id)
    work = lease.locked()
    EmbeddingWork.objects.filter(collection=collection, model=new).delete()
    work.model = new
    work.save(update_fields=["model"])
    Collection.objects.filter(id=collection.id, embedding_model=old).update(embedding_model=new)


def _missing(lease: _WorkLease, model: EmbeddingModel) -> list[int]:
    """The next frames to see: those that stand before those that ended, older ones first."""
    frames = Frame.objects.filter(collection_id=lease.collection_id)
    missing = waiting(frames, model.name).values_list("id", flat=True)
    standing = list(missing.filter(valid_until=None).order_by("id")[:LOOKED_UP])
    return standing or list(missing.order_by("id")[:LOOKED_UP])


def _embed_all(lease: _WorkLease, model: EmbeddingModel, ids: Sequence[int], until: float) -> None:
    """Batch after batch while there is time, and at least one."""
    for first in range(0, len(ids), model.batch):
        _embed(lease, model, ids[first : first + model.batch])
        if time.monotonic() > until:
            return


def _embed(lease: _WorkLease, model: EmbeddingModel, ids: Sequence[int]) -> None:
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
def _keep(lease: _WorkLease, model: EmbeddingModel, frames: Sequence[Frame], vectors: table.Vectors) -> None:
    keep_vectors(_held(lease.collection_id), model.name, frames, vectors)
    lease.write(failures=0, error_code=None, error_message=None)


@transaction.atomic
def _keep_refused(lease: _WorkLease, model: EmbeddingModel, frame: Frame, failed: ModelFailed) -> None:
    keep_refusal(_held(lease.collection_id), model.name, frame, _reason(failed))
    lease.write(failures=0, error_code=None, error_message=None)


def _reason(failed: ModelFailed) -> str:
    """The status and the server's own words, without our advice, which is for those who ask a question."""
    said = failed.facts.get("provider_error", {}).get("message")
    return f"it answered {failed.facts['status']}: {said}" if said else failed.message


@transaction.atomic
def _completed(lease: _WorkLease, model: EmbeddingModel) -> bool:
    """Close the row of work where, while no put can add one, no frame waits for a vector; a replacement becomes the model."""
    collection = Collection.objects.select_for_update().get(id=lease.collection_id)
    work = lease.locked()
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


def _claim(collection_id: UUID) -> _WorkLease | None:
    """The work that fills the collection's own model goes first."""
    work = overdue().filter(collection_id=collection_id).order_by("replaces", "id")
    lease = claim(work)
    if lease is None:
        return None
    return _WorkLease(model=EmbeddingWork, pk=lease.pk, token=lease.token, collection_id=collection_id)


def _held(collection_id: UUID) -> Collection:
    """The collection, which cannot be erased or changed by a put until this transaction ends. Raises `LeaseLost`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tm_collection WHERE id = %s FOR KEY SHARE", [collection_id])
        if cursor.fetchone() is None:
            raise LeaseLost
    return Collection(id=collection_id)


def _not_kept(why: DatabaseError) -> TimeMachineError:
    first_line = str(why).partition("\n")[0]
    return TimeMachineError(f"The database did not take the vectors: {first_line}", code="not_kept")


def _put_off(lease: _WorkLease, failed: TimeMachineError) -> None:
    """Write down why it failed, and try again later each time."""
    with suppress(LeaseLost), transaction.atomic():
        failures = lease.locked().failures
        lease.release(
            not_before=now() + min(FIRST_PAUSE * 2 ** min(failures, 10), LONGEST_PAUSE),
            failures=failures + 1,
            error_code=failed.code,
            error_message=searchable(failed.message),
        )
