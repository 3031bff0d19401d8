"""Models simple enough to predict, and marked as slow, so that their vectors are computed after the frames are stored."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.embedding.table import EmbeddingModel, Vectors
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.vectors import without_vector


def letters(texts: Sequence[str]) -> Vectors:
    """Return how often a text contains each of three letters; the vector is zero without any of them."""
    counts = np.array([[text.count(letter) for letter in "xyz"] for text in texts], dtype=np.float32)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.divide(counts, lengths, out=counts, where=lengths > 0)


SLOW = EmbeddingModel(
    name="slow-3@1", short_name="slow", slow=True, semantic_weight=0.5, batch=4, embed=letters
)


OTHER = replace(SLOW, name="other-3@1", short_name="other")


def passages(count: int, *, first: int = 0) -> list[NewFrame]:
    return [
        NewFrame(text=f"passage {number} {'x' * (number + 1)} y") for number in range(first, first + count)
    ]


def missing_vectors(collection: Collection, model: EmbeddingModel) -> int:
    return without_vector(Frame.objects.filter(collection=collection), model.name).count()


def run_backlog(collection: Collection) -> None:
    while embedding_backlog.embed_missing(collection.id, seconds=0):
        pass
