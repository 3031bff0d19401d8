"""Files of a collection: keeping one, noting that it was put, and ending the passages that its newer version no longer has."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import content_of, file_content, text_sha256
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.knowledge.collection_time import stamp
from timemachine.knowledge.commands import NewFrame, identity, lock
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage, SourcePut


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read: its bytes as they came, the text that its passages are parts of, and what it was read without."""

    name: str
    title: str
    uri: str
    media_type: str
    data: bytes
    text: str
    left_out: tuple[str, ...] = ()


def keep_source(collection: Collection, file: SourceFile, *, by: str) -> Source:
    """The file in the collection; the same file again is the one that is kept. Call it in a transaction."""
    lock(collection)
    original, extracted = file_content(file.data), content_of(file.text)
    same = Source.objects.filter(
        collection=collection,
        sha256=original.sha256,
        uri=file.uri,
        title=file.title,
        media_type=file.media_type,
        text__sha256=extracted.sha256,  # another version of the reader may have read it otherwise
    )
    kept = same.first()
    if kept is not None:
        return kept
    payloads = store(collection.project_id, [original, extracted])
    return Source.objects.create(
        project_id=collection.project_id,
        collection=collection,
        name=file.name,
        title=file.title,
        uri=file.uri,
        media_type=file.media_type,
        original_id=payloads[original],
        text_id=payloads[extracted],
        sha256=original.sha256,
        left_out=list(file.left_out),
        put_by=by,
    )


def note_put(source: Source, passages: Sequence[NewFrame], *, by: str, new: int, replace: bool) -> SourcePut:
    """Note that the file was put, with so many passages that are new; where it is to replace its earlier version, end the
    current frames of its uri that are none of its passages.

    Returns the note, which says how many it ended. Call it in a transaction.
    """
    lock(source.collection)
    moment = stamp(source.collection_id)
    gone = _others(source.collection, source.uri, passages) if replace else []
    ended = Frame.objects.filter(id__in=gone, valid_until=None).update(valid_until=moment, ended_by="replace")
    return source.puts.create(
        at=moment, put_by=by, replaced=replace, new=new, kept=len(passages) - new, ended=ended
    )


def put_that_ended(frame_collection: Collection, ended_at: datetime) -> SourcePut | None:
    """The putting of a file that ended frames of the collection at that moment; None where that was not noted."""
    puts = SourcePut.objects.filter(source__collection=frame_collection, at=ended_at, ended__gt=0)
    return puts.select_related("source").first()


def _others(collection: Collection, uri: str, stay: Sequence[NewFrame]) -> list[int]:
    """The rows of the current frames of the uri that are none of these passages."""
    staying = {identity(text_sha256(frame.text), frame) for frame in stay}
    current = Frame.objects.filter(collection=collection, uri=uri, valid_until=None)
    return [
        frame.id
        for frame in current.only("id", "sha256", "title", "uri", "metadata")
        if identity(frame.sha256, frame) not in staying
    ]


def sources_of(collection: Collection) -> QuerySet[Source]:
    """The files of a collection, newest first, each with `frame_count`, the number of its current frames, and
    `edited_count`, how many more there are whose current version was written by hand over one of its passages."""
    # a subquery counts for the rows of a page only; a join would be grouped for every file of the collection
    current = SourcePassage.objects.filter(source=OuterRef("id"), frame__valid_until=None).values("source")
    counted = Coalesce(Subquery(current.annotate(n=Count("frame", distinct=True)).values("n")), 0)
    edited = Coalesce(
        Subquery(_edited_passages().annotate(n=Count("frame__number", distinct=True)).values("n")), 0
    )
    found = Source.objects.filter(collection=collection)
    return found.annotate(frame_count=counted, edited_count=edited).order_by("-id")


def _edited_passages() -> QuerySet[SourcePassage, Any]:
    """The passages of a file over which somebody wrote the current version of their frame by hand."""
    number = {"collection": OuterRef("frame__collection"), "number": OuterRef("frame__number")}
    by_hand = Frame.objects.filter(**number, valid_until=None, places=None)
    ended = SourcePassage.objects.filter(source=OuterRef("id"), frame__ended_by="update")
    return ended.filter(Exists(by_hand)).values("source")


def source_of(project: Project, source_id: str) -> Source:
    """The project's source of that id; bytes and text come once they are asked for. Raises `NotFound`, the same for another project's."""
    wanted = uuid_of(source_id)
    sources = (
        Source.objects.filter(project=project)
        .select_related("collection", "original", "text")
        .defer("original__data", "text__data")
    )
    found = None if wanted is None else sources.filter(id=wanted).first()
    if found is None:
        raise NotFound("There is no such file in this project.", code="source_not_found")
    return found


def passages_of(source: Source) -> QuerySet[SourcePassage]:
    """The current frames that are passages of a file, and where they stand in it, in the order in which they were put."""
    current = SourcePassage.objects.filter(source=source, frame__valid_until=None)
    shown = ("number", "version", "sha256", "title", "metadata")
    frames = current.select_related("frame").only("start", "end", *(f"frame__{name}" for name in shown))
    return frames.order_by("id")


def places_of(frame_ids: Sequence[int]) -> QuerySet[SourcePassage]:
    """The files of which versions of a frame are passages, and where they stand in each; the newest file first."""
    places = SourcePassage.objects.filter(frame_id__in=frame_ids).select_related(
        "source__collection", "frame"
    )
    return places.order_by("-source_id", "start")
