"""Vectors: those of frames, stored, counted and missing, and that of a query under an embedding model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, OuterRef, QuerySet

from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.collection_time import Moment
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import Vectors
from timemachine.knowledge.models import BlankFrame, Collection, Frame, FrameEmbedding, RefusedFrame
from timemachine.knowledge.queries import frames_at


def store_vectors(collection: Collection, model: str, frames: Sequence[Frame], vectors: Vectors) -> None:
    """Store a vector for each frame, or that the frame is blank to the model. Existing vectors stay."""
    seen = [
        FrameEmbedding(frame=frame, collection=collection, model=model, vector=vector.tolist())
        for frame, vector in zip(frames, vectors, strict=True)
        if vector.any()
    ]
    blank = [
        BlankFrame(frame=frame, collection=collection, model=model)
        for frame, vector in zip(frames, vectors, strict=True)
        if not vector.any()
    ]
    FrameEmbedding.objects.bulk_create(seen, ignore_conflicts=True)
    BlankFrame.objects.bulk_create(blank, ignore_conflicts=True)


def store_refusal(collection: Collection, model: str, frame: Frame, reason: str) -> None:
    """Record that the model's server refused the frame. It is not tried again automatically."""
    refused = RefusedFrame(frame=frame, collection=collection, model=model, reason=reason)
    RefusedFrame.objects.bulk_create([refused], ignore_conflicts=True)


def awaiting_vector(frames: QuerySet[Frame], model: str) -> QuerySet[Frame]:
    """Return those frames that the model has yet to embed: it has not embedded them, and they were not refused."""
    refused = RefusedFrame.objects.filter(frame=OuterRef("pk"), model=model)
    return without_vector(frames, model).exclude(Exists(refused))


def without_vector(frames: QuerySet[Frame], model: str) -> QuerySet[Frame]:
    """Return those frames that the model has not embedded."""
    embedded = FrameEmbedding.objects.filter(frame=OuterRef("pk"), model=model)
    blank = BlankFrame.objects.filter(frame=OuterRef("pk"), model=model)
    return frames.exclude(Exists(embedded)).exclude(Exists(blank))


def count_embedded(collection: Collection, model: str) -> int:
    """Return how many versions of the collection's frames the model has embedded."""
    embedded = FrameEmbedding.objects.filter(collection=collection, model=model).count()
    return embedded + BlankFrame.objects.filter(collection=collection, model=model).count()


@dataclass(kw_only=True)
class QueryEmbedding:
    """The text of a query under an embedding model."""

    words: str
    embedding_model: table.EmbeddingModel

    @property
    def model(self) -> str:
        """Return the name that the model's vectors are stored under."""
        return self.embedding_model.name

    @property
    def semantic_weight(self) -> float:
        """Return the weight of the semantic score in a hybrid find."""
        return self.embedding_model.semantic_weight

    @cached_property
    def vector(self) -> list[float]:
        """Return the query's vector, or an empty list if there is nothing to compare."""
        settled = table.has_dimensions(self.embedding_model)
        return table.query_vector(self.embedding_model, self.words) if settled else []


def embed_query(collection: Collection, words: str, model_name: str | None = None) -> QueryEmbedding:
    """Return the query under the collection's own model, or under another model that the collection has vectors
    of.

    A slow model embeds immediately. A fast one embeds when the vector is first read, so that the database can work
    in the meantime. Raises `InvalidInput` (`embedding_model_not_there`) if the collection has no vectors of the
    model; `Unavailable`, `ModelFailed`.
    """
    name = stored_model_name(collection, model_name) if model_name else collection.embedding_model
    meaning = QueryEmbedding(words=words, embedding_model=table.model_named(name))
    if meaning.embedding_model.slow:
        _ = meaning.vector
    return meaning


def count_not_embedded(collection: Collection, model: str, moment: Moment) -> int:
    """Return how many frames of that time the model has not embedded."""
    if moment.all_embedded and model == moment.embedding_model:
        return 0
    frames: QuerySet[Frame] = frames_at(collection, moment.at).select_related(None).order_by()
    return without_vector(frames, model).count()


def models_with_vectors(collection: Collection) -> list[str]:
    """Return the embedding models that the collection can be searched with, its own first."""
    own = collection.embedding_model
    found = FrameEmbedding.objects.filter(collection=collection).order_by("model")
    others = found.exclude(model=own).values_list("model", flat=True).distinct()
    return [own, *others]


def stored_model_name(collection: Collection, model_name: str) -> str:
    """Return the full name of an embedding model that the collection has vectors of. Raises `InvalidInput` for any
    other.
    """
    if model_name == collection.embedding_model:
        return model_name
    there = models_with_vectors(collection)
    for name in there:
        if model_name in (name, table.model_named(name).short_name):
            return name
    raise InvalidInput(
        f"The collection {collection.name} has no vectors of the embedding model {model_name[:80]!r}; it can be searched with "
        f"{', '.join(there)}. Re-embed it to add another.",
        code="embedding_model_not_there",
        field="embedding_model",
        there=there,
    )
