"""A collection's embedding model, and replacing it while the collection stays searchable with the old one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import EmbeddingModel
from timemachine.knowledge.embedding_backlog import record_missing_vectors
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame, RefusedFrame
from timemachine.knowledge.vectors import awaiting_vector, count_embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedFrames:
    """How many frames the model's server refused, the number of the latest one, and the server's reason."""

    count: int
    frame: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementModel:
    """The model that is to replace the collection's own, its progress, who requested it and when."""

    model: str
    embedded: int
    refused: RefusedFrames | None
    requested_by: str
    requested_at: datetime
    began_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingFailure:
    """Why the last attempt to create vectors failed, and when the next one is due."""

    code: str
    message: str
    retry_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProgress:
    """How many of a collection's frames have been embedded. All versions count, also the `ended` ones."""

    model: str
    frames: int
    ended: int
    embedded: int
    refused: RefusedFrames | None
    target: ReplacementModel | None
    failure: EmbeddingFailure | None

    @property
    def is_running(self) -> bool:
        """Return whether vectors are still missing."""
        refused = self.refused.count if self.refused else 0
        return self.target is not None or self.embedded + refused < self.frames


def model_of_new_collections(name: str = "") -> EmbeddingModel:
    """Return the model of that name, or the one in `EMBEDDING_MODEL`. Raises `InvalidInput`, `Unavailable` if it
    cannot be used.
    """
    model = table.model_named(name or settings.EMBEDDING_MODEL)
    table.require_usable(model)
    return model


def reembed(collection: Collection, name: str, *, by: str) -> EmbeddingProgress:
    """Start replacing the collection's embedding model; the old one stays in use until every frame was embedded or
    refused.

    Naming the collection's own model cancels any other replacement. Repeating the request retries a failed
    attempt immediately, and also the frames that the model's server refused. Raises `InvalidInput`
    (`unknown_embedding_model`), `Unavailable`, and `ModelFailed` if a server does not answer.
    """
    model = table.model_named(name)
    table.require_usable(model)
    model = table.with_dimensions(model)
    with transaction.atomic():
        locked = Collection.objects.select_for_update().get(id=collection.id)
        work = EmbeddingWork.objects.filter(collection=locked)
        work.filter(replaces=True).exclude(model=model.name).delete()
        RefusedFrame.objects.filter(collection=locked, model=model.name).delete()
        if locked.embedding_model != model.name:
            work.get_or_create(
                model=model.name, defaults={"collection": locked, "replaces": True, "requested_by": by}
            )
        elif awaiting_vector(Frame.objects.filter(collection=locked), model.name).exists():
            record_missing_vectors(locked)
        work.update(not_before=None, failures=0)
    return embedding_progress(locked)


def embedding_progress(collection: Collection) -> EmbeddingProgress:
    """Return how far the collection is embedded. Counts vectors only if some are missing."""
    work = list(
        EmbeddingWork.objects.filter(collection=collection).select_related("collection").order_by("id")
    )
    own = _own_model(collection, work)
    past = Q(valid_until__isnull=False)
    counts = Frame.objects.filter(collection=collection).aggregate(
        frames=Count("id"), ended=Count("id", filter=past)
    )
    refused = _refused(collection, own)
    lacking = refused is not None or any(each.model == own for each in work)
    return EmbeddingProgress(
        model=own,
        **counts,
        embedded=count_embedded(collection, own) if lacking else counts["frames"],
        refused=refused,
        target=next((_replacement(collection, each) for each in work if each.replaces), None),
        failure=next((_failure(each) for each in work if each.error_message), None),
    )


def _own_model(collection: Collection, work: Sequence[EmbeddingWork]) -> str:
    """Return the collection's model as of the read of the work, so that a model that is just taking over is in one
    of the two.
    """
    if work:
        return work[0].collection.embedding_model
    return Collection.objects.get(id=collection.id).embedding_model


def _replacement(collection: Collection, work: EmbeddingWork) -> ReplacementModel:
    return ReplacementModel(
        model=work.model,
        embedded=count_embedded(collection, work.model),
        refused=_refused(collection, work.model),
        requested_by=work.requested_by,
        requested_at=work.requested_at,
        began_at=work.began_at,
    )


def _refused(collection: Collection, model: str) -> RefusedFrames | None:
    rows = RefusedFrame.objects.filter(collection=collection, model=model)
    latest = rows.select_related("frame").order_by("-id").first()
    if latest is None:
        return None
    return RefusedFrames(count=rows.count(), frame=latest.frame.number, reason=latest.reason)


def _failure(work: EmbeddingWork) -> EmbeddingFailure:
    return EmbeddingFailure(
        code=work.error_code or "", message=work.error_message or "", retry_at=work.not_before
    )
