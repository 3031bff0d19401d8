"""Why nothing could be found whatever was asked: the collection had no frames at that moment."""

from dataclasses import dataclass
from datetime import datetime

from timemachine.core.pure.clock import written
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import frames_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Emptiness:
    """That a collection had no frames, in a word for programs and a sentence; `first_frame_at` None where it never had one."""

    why: str
    message: str
    first_frame_at: datetime | None


def emptiness(collection: Collection, at: datetime) -> Emptiness | None:
    """Why the collection was empty at a moment; None where it had frames then."""
    if frames_at(collection, at).exists():
        return None
    first = Frame.objects.filter(collection=collection).order_by("number", "version").first()
    if first is None:
        why, message = "no_frames_yet", "The collection has no frames yet; put some into it."
    elif first.valid_from > at:
        came = written(first.valid_from)
        why, message = "no_frames_then", f"The collection had no frames then; its first came at {came}."
    else:
        why, message = "no_frames_left", "The collection had no frames then; those before were ended."
    return Emptiness(why=why, message=message, first_frame_at=None if first is None else first.valid_from)
