"""What a find looks for by meaning: the query as a vector of one embedding model, and how many frames have none of it."""

from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.collection_time import Moment
from timemachine.knowledge.embedding import table
from timemachine.knowledge.models import Collection, Frame, FrameEmbedding
from timemachine.knowledge.queries import frames_at
from timemachine.knowledge.vectors import without_vector


@dataclass(kw_only=True)
class Meaning:
    """The words of a query under an embedding model."""

    words: str
    embedding_model: table.EmbeddingModel

    @property
    def model(self) -> str:
        """The name that its vectors are stored under."""
        return self.embedding_model.name

    @property
    def weight(self) -> float:
        """What it counts beside the words."""
        return self.embedding_model.semantic_weight

    @cached_property
    def vector(self) -> list[float]:
        """Empty where there is nothing to compare."""
        settled = table.is_settled(self.embedding_model)
        return table.question_vector(self.embedding_model, self.words) if settled else []


def meaning_of(collection: Collection, words: str, asked: str | None = None) -> Meaning:
    """The query under the collection's own model, or another that the collection has vectors of.

    A vector that is quickly made is made when it is asked for first, so that the database is at work meanwhile.
    Raises `InvalidInput` (`embedding_model_not_there`) for a model without vectors in it, `Unavailable`, `ModelFailed`.
    """
    name = searchable_name(collection, asked) if asked else collection.embedding_model
    meaning = Meaning(words=words, embedding_model=table.named(name))
    if meaning.embedding_model.slow:
        _ = meaning.vector
    return meaning


def not_embedded(collection: Collection, model: str, moment: Moment) -> int:
    """How many of the frames of that moment the model has not seen. Nothing is counted where nothing can be missing."""
    if moment.all_embedded and model == moment.embedding_model:
        return 0
    frames: QuerySet[Frame] = frames_at(collection, moment.at).select_related(None).order_by()
    return without_vector(frames, model).count()


def models_with_vectors(collection: Collection) -> list[str]:
    """The embedding models that the collection can be searched with, its own first."""
    own = collection.embedding_model
    found = FrameEmbedding.objects.filter(collection=collection).order_by("model")
    others = found.exclude(model=own).values_list("model", flat=True).distinct()
    return [own, *others]


def searchable_name(collection: Collection, asked: str) -> str:
    """The full name of an embedding model that the collection has vectors of. Raises `InvalidInput` for any other."""
    if asked == collection.embedding_model:
        return asked
    there = models_with_vectors(collection)
    for name in there:
        if asked in (name, table.named(name).asked):
            return name
    raise InvalidInput(
        f"The collection {collection.name} has no vectors of the embedding model {asked[:80]!r}; it can be searched with "
        f"{', '.join(there)}. Re-embed it to add another.",
        code="embedding_model_not_there",
        field="embedding_model",
        there=there,
    )
