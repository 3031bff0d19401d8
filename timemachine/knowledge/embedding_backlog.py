"""Create missing vectors in the background: those of slow models, and those of a model that replaces another.

Missing vectors are recorded as rows of `EmbeddingWork`. A worker takes one with a lease, embeds batch by batch
and stores each batch immediately, so it can be killed at any time and another worker continues. Frames that a
server refuses are recorded as `RefusedFrame` and block nothing. Locks are taken in this order: the collection,
its frames, the row of work.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet

from timemachine.core.database import rejection
from timemachine.core.leases import Lease, LeaseLost, claim, keep_alive, mark_enqueued, since_the_first_claim
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import ModelFailed, TimeMachineError
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import EmbeddingModel
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame
from timemachine.knowledge.vectors import awaiting_vector, store_refusal, store_vectors
from timemachine.llm.embedding_server import refuses_texts

TURN_SECONDS = 20.0
"""How long a job works on one collection before it goes to the end of the queue."""
LOOKED_UP = 1_000
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkLease(Lease[EmbeddingWork]):
    collection_id: UUID


def record_missing_vectors(collection: Collection) -> None:
    """Record that vectors of the collection's own model are missing. Call it in the transaction that adds the
    frames.
    """
    work = EmbeddingWork(collection=collection, model=collection.embedding_model)
    EmbeddingWork.objects.bulk_create([work], ignore_conflicts=True)


def is_due(collection_id: UUID) -> bool:
    """Return whether the collection lacks vectors and its work is to be enqueued."""
    return bool(mark_enqueued(overdue().filter(collection_id=collection_id)))


def overdue() -> QuerySet[EmbeddingWork]:
    """Return the work on collections that lack vectors, unless it is postponed."""
    return EmbeddingWork.objects.filter(Q(not_before=None) | Q(not_before__lte=now()))


def embed_missing(collection_id: UUID, seconds: float = TURN_SECONDS) -> bool:
    """Embed frames of the collection for about that many seconds. Return True if there is more to do now.

    Safe to run twice, concurrently, and to be killed at any time.
    """
    until = time.monotonic() + seconds
    while (lease := _claim(collection_id)) is not None:
        try:
            with keep_alive(lease):  # a batch of long passages, or a slow server, may take minutes
                complete = _embed_until(lease, until)
        except LeaseLost:
            continue
        except TimeMachineError as failed:
            _postpone(lease, failed)
            continue
        except DatabaseError as why:
            _postpone(lease, rejection(why, "vectors"))
            continue
        if not complete:
            lease.release()
            return True
    return False


def _embed_until(lease: _WorkLease, until: float) -> bool:
    """Embed until the time is up. Return whether nothing is missing any more; the row of work is then deleted."""
    model = _model_with_dimensions(lease)
    while True:
        ids = _missing(lease, model)
        if not ids and _completed(lease, model):
            return True
        _embed_all(lease, model, ids, until)
        if time.monotonic() > until:
            return False


def _model_with_dimensions(lease: _WorkLease) -> EmbeddingModel:
    """Return the model with its full name, and store that name if it was unknown."""
    model = table.model_named(EmbeddingWork.objects.values_list("model", flat=True).get(id=lease.pk))
    table.require_usable(model)
    full = table.with_dimensions(model)
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
    """Return the next frames to embed: current ones before ended ones, oldest first."""
    frames = Frame.objects.filter(collection_id=lease.collection_id)
    missing = awaiting_vector(frames, model.name).values_list("id", flat=True)
    standing = list(missing.filter(valid_until=None).order_by("id")[:LOOKED_UP])
    return standing or list(missing.order_by("id")[:LOOKED_UP])


def _embed_all(lease: _WorkLease, model: EmbeddingModel, ids: Sequence[int], until: float) -> None:
    """Embed batch by batch until the time is up, at least one batch."""
    for first in range(0, len(ids), model.batch):
        _embed(lease, model, ids[first : first + model.batch])
        if time.monotonic() > until:
            return


def _embed(lease: _WorkLease, model: EmbeddingModel, ids: Sequence[int]) -> None:
    """Embed these frames. If the server refuses them, try each half, so that one bad text does not block the
    others.
    """
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
        # A server that refuses everything (no model is loaded) must not look like one that refuses this text.
        table.probe(model)
        _store_refusal(lease, model, frames[0], failed)
        return
    _store(lease, model, frames, vectors)


@transaction.atomic
def _store(lease: _WorkLease, model: EmbeddingModel, frames: Sequence[Frame], vectors: table.Vectors) -> None:
    store_vectors(_locked_collection(lease.collection_id), model.name, frames, vectors)
    lease.write(failures=0, error_code=None, error_message=None)


@transaction.atomic
def _store_refusal(lease: _WorkLease, model: EmbeddingModel, frame: Frame, failed: ModelFailed) -> None:
    store_refusal(_locked_collection(lease.collection_id), model.name, frame, _reason(failed))
    lease.write(failures=0, error_code=None, error_message=None)


def _reason(failed: ModelFailed) -> str:
    """Return the status and the server's own message, without our advice for people who ask questions."""
    message = failed.facts.get("provider_error", {}).get("message")
    return f"it returned {failed.facts['status']}: {message}" if message else failed.message


@transaction.atomic
def _completed(lease: _WorkLease, model: EmbeddingModel) -> bool:
    """Delete the row of work if no frame lacks a vector, while no put can add one. A replacement becomes the
    collection's model.
    """
    collection = Collection.objects.select_for_update().get(id=lease.collection_id)
    work = lease.locked()
    if awaiting_vector(Frame.objects.filter(collection=collection), model.name).exists():
        return False
    if work.replaces:
        Collection.objects.filter(id=collection.id).update(embedding_model=model.name)
        EmbeddingWork.objects.filter(collection=collection).delete()
    else:
        work.delete()
    return True


def _text(frame: Frame) -> str:
    return f"{frame.search_title}\n{frame.search_text}" if frame.search_title else frame.search_text


# --- leases and failures


def _claim(collection_id: UUID) -> _WorkLease | None:
    """Claim the next work; filling the collection's own model comes first."""
    work = overdue().filter(collection_id=collection_id).order_by("replaces", "id")
    lease = claim(work, began_at=since_the_first_claim())
    if lease is None:
        return None
    return _WorkLease(model=EmbeddingWork, pk=lease.pk, token=lease.token, collection_id=collection_id)


def _locked_collection(collection_id: UUID) -> Collection:
    """Lock the collection against deletion and puts until this transaction ends. Raises `LeaseLost` if it was
    deleted.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tm_collection WHERE id = %s FOR KEY SHARE", [collection_id])
        if cursor.fetchone() is None:
            raise LeaseLost
    return Collection(id=collection_id)


def _postpone(lease: _WorkLease, failed: TimeMachineError) -> None:
    """Record the failure and postpone the next attempt, longer each time."""
    with suppress(LeaseLost), transaction.atomic():
        failures = lease.locked().failures
        lease.release(
            not_before=now() + min(FIRST_PAUSE * 2 ** min(failures, 10), LONGEST_PAUSE),
            failures=failures + 1,
            error_code=failed.code,
            error_message=searchable(failed.message),
        )
