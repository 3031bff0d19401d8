"""Where a put goes, its body and its answer: one passage or many."""

from dataclasses import replace
from typing import Any

from timemachine.api.access import Caller
from timemachine.api.schemas import FrameIn, PutIn
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.commands import NewFrame, collection_named
from timemachine.knowledge.models import Collection
from timemachine.recording.answering.commands import PutDone


def collection_for(who: Caller, name: str) -> Collection:
    """The project's collection of that name, made where there is none. Raises `InvalidInput` for a name that none can have."""
    return collection_named(who.project, name, by=who.by)


def frames_in(payload: PutIn) -> list[NewFrame]:
    """The passages of a put. Raises `InvalidInput` where it has neither or both of `text` and `frames`."""
    if (payload.text is None) == (payload.frames is None):
        raise InvalidInput("Send one passage in `text`, or several in `frames`.", code="invalid_request")
    if payload.frames is not None:
        return [replace(_frame(each), may_be_empty=True) for each in payload.frames]
    return [_frame(payload)]


def puts_json(done: PutDone) -> dict[str, Any]:
    """What became of each passage, and the sequences where a session recorded them."""
    frames = [
        {
            "frame": each.frame.number,
            "version": each.frame.version,
            "sha256": each.frame.sha256,
            "title": each.frame.title,
            "already_there": each.already_there,
        }
        for each in done.puts
    ]
    return {"frames": frames, "sequences": done.sequences}


def _frame(payload: FrameIn | PutIn) -> NewFrame:
    return NewFrame(
        text=payload.text or "",
        title=payload.title,
        uri=payload.uri,
        metadata=payload.metadata,
        number=payload.frame,
    )
