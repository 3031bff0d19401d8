"""The vectors of frames: kept, counted, which are missing, and which the model would not make."""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from timemachine.knowledge.embedding.table import Vectors
from timemachine.knowledge.models import BlankFrame, Collection, Frame, FrameEmbedding, RefusedFrame


def keep_vectors(collection: Collection, model: str, frames: Sequence[Frame], vectors: Vectors) -> None:
    """Store a vector for each frame, or that the model sees nothing in it; what stands already stays."""
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


def keep_refusal(collection: Collection, model: str, frame: Frame, reason: str) -> None:
    """Store that the model's server refused the frame: it is not asked again of its own accord."""
    refused = RefusedFrame(frame=frame, collection=collection, model=model, reason=reason)
    RefusedFrame.objects.bulk_create([refused], ignore_conflicts=True)


def waiting(frames: QuerySet[Frame], model: str) -> QuerySet[Frame]:
    """Those of the frames that the model is still to see: it has not seen them, and they were not refused."""
    refused = RefusedFrame.objects.filter(frame=OuterRef("pk"), model=model)
    return without_vector(frames, model).exclude(Exists(refused))


def without_vector(frames: QuerySet[Frame], model: str) -> QuerySet[Frame]:
    """Those of the frames that the model has not seen."""
    embedded = FrameEmbedding.objects.filter(frame=OuterRef("pk"), model=model)
    blank = BlankFrame.objects.filter(frame=OuterRef("pk"), model=model)
    return frames.exclude(Exists(embedded)).exclude(Exists(blank))


def number_seen(collection: Collection, model: str) -> int:
    """How many versions of the collection's frames the model has seen."""
    embedded = FrameEmbedding.objects.filter(collection=collection, model=model).count()
    return embedded + BlankFrame.objects.filter(collection=collection, model=model).count()
