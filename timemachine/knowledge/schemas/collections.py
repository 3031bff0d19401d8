"""Collections, their frames and the files that frames came with, as the API takes and returns them."""

from typing import Any, Literal, Self

from django.conf import settings
from django.urls import reverse

from timemachine.core.payloads.queries import text
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage

EndedBy = Literal["update", "delete", "replace"]


class CollectionIn(Strict):
    """A new collection."""

    name: str


class CollectionOut(Schema):
    """A collection. `frames` is how many current frames it has, null if they were not counted."""

    name: str
    frames: int | None
    embedding_model: str
    created_at: str
    created_by: str

    @classmethod
    def of(cls, collection: Collection) -> "CollectionOut":
        """The collection."""
        return cls.from_attributes(collection, frames=getattr(collection, "frame_count", None))


class CollectionPage(Page[CollectionOut]):
    """Collections by name."""


class FrameSource(Schema):
    """Where a frame came from: `start` and `end` count characters of the file's text, and `url` shows the passage there."""

    id: str
    name: str
    title: str
    uri: str
    media_type: str
    start: int | None
    end: int | None
    page: Any  # as the frame's metadata has it: a number in a PDF, otherwise null
    url: str

    @classmethod
    def of(cls, frame: Frame) -> "FrameSource | None":
        """The file that the frame came with, if it came with one."""
        source = frame.source
        if source is None:
            return None
        return cls.from_attributes(
            source,
            start=frame.source_start,
            end=frame.source_end,
            page=frame.metadata.get("page"),
            url=f"{source_url(frame.collection, source)}?frame={frame.number}&version={frame.version}",
        )


class FrameOut(Schema):
    """One version of a frame with its text. `valid_until`, `ended_by` and `deleted_by` are null while it is current."""

    frame: int
    version: int
    title: str
    uri: str
    metadata: JsonObject
    sha256: str
    text: str
    valid_from: str
    valid_until: str | None
    ended_by: EndedBy | None
    deleted_by: str | None  # also null for deletions from before it was recorded
    put_by: str
    source: FrameSource | None

    @classmethod
    def of(cls, frame: Frame) -> "FrameOut":
        """The version."""
        return cls.from_attributes(
            frame, frame=frame.number, text=text(frame.payload), source=FrameSource.of(frame)
        )


class FramePage(Page[FrameOut]):
    """The frames of a collection by number."""


class FramePlace(Schema):
    """A file that has a version of a frame as a passage, and where in its text, in characters."""

    id: str
    name: str
    uri: str
    created_at: str
    version: int
    start: int | None
    end: int | None
    url: str

    @classmethod
    def of(cls, place: SourcePassage) -> "FramePlace":
        """The place."""
        frame, source = place.frame, place.source
        return cls.from_attributes(
            source,
            version=frame.version,
            start=place.start,
            end=place.end,
            url=f"{source_url(source.collection, source)}?frame={frame.number}&version={frame.version}",
        )


class SourceOut(Schema):
    """A file whose passages were put; `url` is the page with its text. `left_out` names what of an HTML page is not in the text."""

    id: str
    name: str
    title: str
    uri: str
    media_type: str
    sha256: str
    left_out: list[str]
    put_by: str
    created_at: str
    url: str

    @classmethod
    def of(cls, source: Source, **more: Any) -> Self:
        """The file, with the fields that a subclass has besides."""
        return cls.from_attributes(source, url=source_url(source.collection, source), **more)


class SourceListed(SourceOut):
    """A file in a list: how many of its frames are current, and how many more were edited by hand since."""

    frames: int | None
    edited: int | None

    @classmethod
    def of_row(cls, source: Source) -> Self:
        """The file with its counts, as `sources_of` reads it."""
        return cls.of(
            source,
            frames=getattr(source, "frame_count", None),
            edited=getattr(source, "edited_count", None),
        )


class SourcePage(Page[SourceListed]):
    """The files of a collection, newest first."""


class SourceFrame(Schema):
    """A current frame that is a passage of a file, and where in the file's text, in characters."""

    frame: int
    version: int
    sha256: str
    title: str
    start: int | None
    end: int | None
    page: Any  # as the frame's metadata has it: a number in a PDF, otherwise null

    @classmethod
    def of(cls, place: SourcePassage) -> "SourceFrame":
        """The frame at its place."""
        frame = place.frame
        return cls.from_attributes(
            frame, frame=frame.number, start=place.start, end=place.end, page=frame.metadata.get("page")
        )


class SourceFrames(Page[SourceFrame]):
    """The current frames of a file, in the order in which they were put."""


def source_url(collection: Collection, source: Source) -> str:
    """The page that shows the file's text."""
    return f"{settings.PUBLIC_URL}{reverse('source', args=[collection.name, source.id])}"
