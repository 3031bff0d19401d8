"""The recorded output of a put, by which the step that put a frame is found."""

from collections.abc import Mapping
from typing import Any

from timemachine.core.pure.content import content_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.knowledge.models import Frame


def put_output(
    collection: str, frame: Frame, source: Mapping[str, Any] | None, *, already_there: bool
) -> JsonObject:
    """Return the output of a put: the version of the frame, and its place in a file if it has one."""
    return {
        "collection": collection,
        "frame": frame.number,
        "version": frame.version,
        "sha256": frame.sha256,
        "already_there": already_there,
        **({} if source is None else {"source": source}),
    }


def sha256_of_put(frame: Frame) -> str:
    """Return the SHA-256 in hex of the output of the put that created this version of a frame. Reads the frame's collection."""
    from_file = frame.source_id is not None
    source = place_in_file(f"{frame.source_id}", frame.uri, frame.source_start, frame.source_end)
    output = put_output(frame.collection.name, frame, source if from_file else None, already_there=False)
    return content_of(output).sha256


def place_in_file(source: str, uri: str, start: int | None, end: int | None) -> JsonObject:
    """Return the file of a passage and its character range in the file's text; `end` is exclusive."""
    return {"id": source, "uri": uri, "start": start, "end": end}
