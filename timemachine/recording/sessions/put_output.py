"""What a put records as its output, so that the step which put a frame is found again by it."""

from collections.abc import Mapping
from typing import Any

from timemachine.core.pure.content import content_of
from timemachine.knowledge.models import Frame


def put_output(
    collection: str, frame: Frame, source: Mapping[str, Any] | None, *, already_there: bool
) -> dict[str, Any]:
    """The output of a put: which version of which frame it was, and its place in a file where it comes from one."""
    return {
        "collection": collection,
        "frame": frame.number,
        "version": frame.version,
        "sha256": frame.sha256,
        "already_there": already_there,
        **({} if source is None else {"source": source}),
    }


def sha256_of_put(frame: Frame) -> str:
    """The SHA-256 of what the put that brought a version of a frame recorded as its output, in hex. It reads the frame's collection."""
    brought_by = frame.source_id is not None
    source = place_in_file(f"{frame.source_id}", frame.uri, frame.source_start, frame.source_end)
    said = put_output(frame.collection.name, frame, source if brought_by else None, already_there=False)
    return content_of(said).sha256


def place_in_file(source: str, uri: str, start: int | None, end: int | None) -> dict[str, Any]:
    """Where in which file a passage stood: from one character of its text to before another."""
    return {"id": source, "uri": uri, "start": start, "end": end}
