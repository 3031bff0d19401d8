"""The embedding model of a collection, as the API takes and returns it."""

from timemachine.core.pure.schemas import Schema, Strict
from timemachine.knowledge.models import Collection
from timemachine.knowledge.reembedding import (
    EmbeddingProgress,
)


class EmbeddingIn(Strict):
    """The embedding model that a collection is to have."""

    model: str


class FramesRefused(Schema):
    """How many frames the model's server refused, the number of the latest one, and the server's reason."""

    count: int
    frame: int
    reason: str


class EmbeddingTarget(Schema):
    """The model that is to replace the collection's own, how many frames it has embedded, and who asked for it."""

    embedding_model: str
    embedded: int
    refused: FramesRefused | None
    requested_by: str
    requested_at: str


class EmbeddingTrouble(Schema):
    """Why the last attempt to embed failed, and when the next one is."""

    code: str
    message: str
    again_at: str | None


class EmbeddingOut(Schema):
    """How many of a collection's frames are embedded; every version of a frame counts, also those that are not current."""

    collection: str
    embedding_model: str
    frames: int
    embedded: int
    refused: FramesRefused | None
    target: EmbeddingTarget | None
    trouble: EmbeddingTrouble | None

    @classmethod
    def of(cls, collection: Collection, progress: EmbeddingProgress) -> "EmbeddingOut":
        """The progress of the collection."""
        target, failure = progress.target, progress.failure
        return cls.from_attributes(
            progress,
            collection=collection.name,
            embedding_model=progress.model,
            target=target and EmbeddingTarget.from_attributes(target, embedding_model=target.model),
            trouble=failure and EmbeddingTrouble.from_attributes(failure, again_at=failure.retry_at),
        )
