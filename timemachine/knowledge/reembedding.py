"""Which embedding model a collection has, and giving it another one while it is searched with the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import EmbeddingModel
from timemachine.knowledge.embedding_backlog import note_missing
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame, RefusedFrame
from timemachine.knowledge.vectors import number_seen, waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """How many frames the model's server refused; the number of the latest, and what the server said of it."""

    count: int
    frame: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model that is to replace the collection's own, how far it is, and who asked for it when."""

    model: str
    embedded: int
    refused: Refused | None
    requested_by: str
    requested_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why the last try to make vectors failed, and when the next one is."""

    code: str
    message: str
    again_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How many of a collection's frames, all their versions counted, also the `ended` ones, have been embedded."""

    model: str
    frames: int
    ended: int
    embedded: int
    refused: Refused | None
    target: Target | None
    trouble: Trouble | None

    @property
    def under_way(self) -> bool:
        """Whether vectors are still to be made."""
        refused = self.refused.count if self.refused else 0
        return self.target is not None or self.embedded + refused < self.frames


def model_of_new_collections(name: str = "") -> EmbeddingModel:
    """The model of that name, or what `EMBEDDING_MODEL` names. Raises `InvalidInput`, `Unavailable` where it cannot be used."""
    model = table.named(name or settings.EMBEDDING_MODEL)
    table.require_usable(model)
    return model


def reembed(collection: Collection, name: str, *, by: str) -> Progress:
    """Have the collection embedded with the model of that name; it is searched with its own until every frame was seen or refused.

    The model that it has already drops any other target. Asking twice is asking once; a failed try is made again at once, and
    the frames that the model's server refused are given to it again.
    Raises `InvalidInput` (`unknown_embedding_model`), `Unavailable`, `ModelFailed` where a server does not answer.
    """
    model = table.named(name)
    table.require_usable(model)
    model = table.settled(model)
    with transaction.atomic():
        locked = Collection.objects.select_for_update().get(id=collection.id)
        work = EmbeddingWork.objects.filter(collection=locked)
        work.filter(replaces=True).exclude(model=model.name).delete()
        RefusedFrame.objects.filter(collection=locked, model=model.name).delete()
        if locked.embedding_model != model.name:
            work.get_or_create(
                model=model.name, defaults={"collection": locked, "replaces": True, "requested_by": by}
            )
        elif waiting(Frame.objects.filter(collection=locked), model.name).exists():
            note_missing(locked)
        work.update(not_before=None, failures=0)
    return progress(locked)


def progress(collection: Collection) -> Progress:
    """How far the collection is embedded; counted only where something is missing."""
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
    return Progress(
        model=own,
        **counts,
        embedded=number_seen(collection, own) if lacking else counts["frames"],
        refused=refused,
        target=next((_target(collection, each) for each in work if each.replaces), None),
        trouble=next((_trouble(each) for each in work if each.error_message), None),
    )


def _own_model(collection: Collection, work: Sequence[EmbeddingWork]) -> str:
    """The model that it has: of the moment at which the work was read, so that no model is missing from both when it becomes its own."""
    if work:
        return work[0].collection.embedding_model
    return Collection.objects.get(id=collection.id).embedding_model


def _target(collection: Collection, work: EmbeddingWork) -> Target:
    return Target(
        model=work.model,
        embedded=number_seen(collection, work.model),
        refused=_refused(collection, work.model),
        requested_by=work.requested_by,
        requested_at=work.requested_at,
    )


def _refused(collection: Collection, model: str) -> Refused | None:
    rows = RefusedFrame.objects.filter(collection=collection, model=model)
    latest = rows.select_related("frame").order_by("-id").first()
    if latest is None:
        return None
    return Refused(count=rows.count(), frame=latest.frame.number, reason=latest.reason)


def _trouble(work: EmbeddingWork) -> Trouble:
    return Trouble(code=work.error_code or "", message=work.error_message or "", again_at=work.not_before)
