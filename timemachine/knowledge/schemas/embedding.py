"""The embedding model of a collection, as the API takes and returns it."""

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.knowledge.models import Collection
from timemachine.knowledge.reembedding import (
    EmbeddingFailure,
    EmbeddingProgress,
    RefusedFrames,
    ReplacementModel,
)


class EmbeddingIn(Strict):
    """The embedding model that a collection is to have."""

    model: str


class FramesRefused(Schema):
    """How many frames the model's server refused, the number of the latest one, and the server's reason."""

    count: int
    frame: int
    reason: str

    @classmethod
    def of(cls, refused: RefusedFrames | None) -> "FramesRefused | None":
        """The frames, if any were refused."""
        if refused is None:
            return None
        return cls.model_construct(count=refused.count, frame=refused.frame, reason=refused.reason)


class EmbeddingTarget(Schema):
    """The model that is to replace the collection's own, how many frames it has embedded, and who asked for it."""

    embedding_model: str
    embedded: int
    refused: FramesRefused | None
    requested_by: str
    requested_at: str

    @classmethod
    def of(cls, target: ReplacementModel | None) -> "EmbeddingTarget | None":
        """The model, if there is one."""
        if target is None:
            return None
        return cls.model_construct(
            embedding_model=target.model,
            embedded=target.embedded,
            refused=FramesRefused.of(target.refused),
            requested_by=target.requested_by,
            requested_at=written(target.requested_at),
        )


class EmbeddingTrouble(Schema):
    """Why the last attempt to embed failed, and when the next one is."""

    code: str
    message: str
    again_at: str | None

    @classmethod
    def of(cls, failure: EmbeddingFailure | None) -> "EmbeddingTrouble | None":
        """The failure, if the last attempt failed."""
        if failure is None:
            return None
        return cls.model_construct(
            code=failure.code, message=failure.message, again_at=written(failure.retry_at)
        )


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
        return cls.model_construct(
            collection=collection.name,
            embedding_model=progress.model,
            frames=progress.frames,
            embedded=progress.embedded,
            refused=FramesRefused.of(progress.refused),
            target=EmbeddingTarget.of(progress.target),
            trouble=EmbeddingTrouble.of(progress.failure),
        )
