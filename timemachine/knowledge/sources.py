"""The files of a collection: store them, record each upload, and list the frames that an upload ended or that were
edited by hand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import content_of, file_content, text_sha256
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.collection_time import change_time
from timemachine.knowledge.commands import NewFrame, lock_collection, passage_identity
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage, SourcePut
from timemachine.knowledge.queries import collection_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read: its original bytes, the extracted text that its passages are parts of, and which parts
    were left out.
    """

    name: str
    title: str
    uri: str
    media_type: str
    data: bytes
    text: str
    left_out: tuple[str, ...] = ()


def store_source(collection: Collection, file: SourceFile, *, by: str) -> Source:
    """Store the file in the collection, or return the identical one that is stored. Call it in a transaction."""
    lock_collection(collection)
    original, extracted = file_content(file.data), content_of(file.text)
    same = Source.objects.filter(
        collection=collection,
        sha256=original.sha256,
        uri=file.uri,
        title=file.title,
        media_type=file.media_type,
        text__sha256=extracted.sha256,  # another version of the reader may extract another text
    )
    stored = same.first()
    if stored is not None:
        return stored
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


def record_put(
    source: Source, passages: Sequence[NewFrame], *, by: str, new: int, replace: bool
) -> SourcePut:
    """Record an upload of the file. If it is to `replace` the earlier version, end the other current frames of its
    uri.

    Returns the record, which has the number of frames that it ended. Call it in a transaction.
    """
    lock_collection(source.collection)
    moment = change_time(source.collection_id)
    replaced = _frames_to_replace(source.collection, source.uri, passages) if replace else []
    ended = Frame.objects.filter(id__in=replaced, valid_until=None).update(
        valid_until=moment, ended_by="replace"
    )
    return source.puts.create(
        at=moment, put_by=by, replaced=replace, new=new, kept=len(passages) - new, ended=ended
    )


def put_that_ended(frame_collection: Collection, ended_at: datetime) -> SourcePut | None:
    """Return the upload that ended frames of the collection at that time, or None."""
    puts = SourcePut.objects.filter(source__collection=frame_collection, at=ended_at, ended__gt=0)
    return puts.select_related("source").first()


def _frames_to_replace(collection: Collection, uri: str, stay: Sequence[NewFrame]) -> list[int]:
    """Return the rows of the current frames of the uri that are not among these passages."""
    staying = {passage_identity(text_sha256(frame.text), frame) for frame in stay}
    current = Frame.objects.filter(collection=collection, uri=uri, valid_until=None)
    return [
        frame.id
        for frame in current.only("id", "sha256", "title", "uri", "metadata")
        if passage_identity(frame.sha256, frame) not in staying
    ]


def sources_of(collection: Collection) -> QuerySet[Source]:
    """Return the files of a collection, newest first.

    Each has `frame_count`, the number of its current frames, and `edited_count`, the number of its frames that
    were edited by hand since.
    """
    # a subquery counts only for the rows of a page; a join would be grouped for all files of the collection
    current = SourcePassage.objects.filter(source=OuterRef("id"), frame__valid_until=None).values("source")
    counted = Coalesce(Subquery(current.annotate(n=Count("frame", distinct=True)).values("n")), 0)
    edited = Coalesce(
        Subquery(_edited_passages().annotate(n=Count("frame__number", distinct=True)).values("n")), 0
    )
    found = Source.objects.filter(collection=collection)
    return found.annotate(frame_count=counted, edited_count=edited).order_by("-id")


def _edited_passages() -> QuerySet[SourcePassage, Any]:
    """Return the passages of a file whose frame was edited by hand since."""
    number = {"collection": OuterRef("frame__collection"), "number": OuterRef("frame__number")}
    by_hand = Frame.objects.filter(**number, valid_until=None, places=None)
    ended = SourcePassage.objects.filter(source=OuterRef("id"), frame__ended_by="update")
    return ended.filter(Exists(by_hand)).values("source")


def source_of(project: Project, collection: str, source_id: str) -> Source:
    """Return the file with that id in the collection, its bytes and text deferred. Raises `NotFound`."""
    sources = (
        Source.objects.filter(project=project)
        .select_related("collection", "original", "text")
        .defer("original__stored", "text__stored")
    )
    missing = NotFound("There is no such file in this project.", code="source_not_found")
    found = row_of(sources, source_id, missing)
    if found.collection_id != collection_of(project, collection).id:
        raise NotFound("There is no such file in this collection.", code="source_not_found")
    return found


def passages_of(source: Source) -> QuerySet[SourcePassage]:
    """Return the passages of a file that are current frames, with their place in the file, in the order in which
    they were put.
    """
    current = SourcePassage.objects.filter(source=source, frame__valid_until=None)
    shown = ("number", "version", "sha256", "title", "metadata")
    frames = current.select_related("frame").only("start", "end", *(f"frame__{name}" for name in shown))
    return frames.order_by("id")


def places_of(frame_ids: Sequence[int]) -> QuerySet[SourcePassage]:
    """Return the files in which these versions of a frame are passages, with the place in each, newest file first."""
    places = SourcePassage.objects.filter(frame_id__in=frame_ids).select_related(
        "source__collection", "frame"
    )
    return places.order_by("-source_id", "start")


MOST_NAMED: Final = 20
MOST_PUTS: Final = 1_000


class FrameEnded(Schema):
    """A frame that the file ended. `edited` is true if its last version was written by hand over a passage of a file."""

    frame: int
    version: int
    title: str
    edited: bool


class FrameEdited(Schema):
    """A frame that was edited by hand while `beside`, another frame, has its old text from the file; both are current."""

    frame: int
    beside: int
    title: str


def edited_frames(source: Source) -> list[FrameEdited]:
    """Return the frames that were edited by hand while another frame has their original text as a current passage
    of the file.

    This happens when a file is uploaded again without `replace`.
    """
    passages = Frame.objects.filter(places__source=source, valid_until=None)
    stand = passages.order_by("number").values_list("sha256", "title", "uri", "number")
    beside = {(sha256, title, uri): number for sha256, title, uri, number in stand}
    frames = Frame.objects.filter(collection_id=source.collection_id)
    by_hand = frames.filter(number=OuterRef("number"), valid_until=None, places=None)
    before = frames.filter(
        Exists(by_hand),
        Exists(SourcePassage.objects.filter(frame=OuterRef("id"))),
        ended_by="update",
        uri__in={uri for _, _, uri in beside},
        sha256__in={sha256 for sha256, _, _ in beside},
    )
    found = before.order_by("number", "version").values_list("sha256", "title", "uri", "number")
    edited = {
        number: FrameEdited.model_construct(frame=number, beside=beside[sha256, title, uri], title=title)
        for sha256, title, uri, number in found
        if (sha256, title, uri) in beside
    }
    return list(edited.values())


def edited_by_hand() -> Exists:
    """Return the condition that a version of a frame is in no file while an earlier version is a passage of one."""
    earlier = SourcePassage.objects.filter(
        frame__collection=OuterRef("collection"),
        frame__number=OuterRef("number"),
        frame__version__lt=OuterRef("version"),
    )
    return Exists(earlier)


def ended_frames(put: SourcePut) -> list[FrameEnded]:
    """Return the first `MOST_NAMED` frames that an upload ended, those edited by hand first."""
    if not put.ended:
        return []
    found = (
        Frame.objects.filter(collection_id=put.source.collection_id, ended_by="replace", valid_until=put.at)
        .filter(uri=put.source.uri)
        .annotate(in_a_file=Exists(SourcePassage.objects.filter(frame=OuterRef("id"))))
        .annotate(after_a_file=edited_by_hand())
        .only("number", "version", "title")
    )
    return [
        FrameEnded.model_construct(
            frame=each.number,
            version=each.version,
            title=each.title,
            edited=each.after_a_file and not each.in_a_file,
        )
        for each in found.order_by("in_a_file", "-after_a_file", "number")[:MOST_NAMED]
    ]


def replaced_by(collection: Collection, sources: Iterable[Source]) -> dict[UUID, SourcePut]:
    """Return for each file that is no longer the current one of its uri the upload of the file that replaced it."""
    puts = (
        SourcePut.objects.filter(
            source__collection=collection, source__uri__in={each.uri for each in sources if each.uri}
        )
        .select_related("source")
        .only("at", "replaced", "source__uri")
        .order_by("-at")
    )
    every = list(puts[:MOST_PUTS])[::-1]
    last = {each.source_id: each.at for each in every}
    return {
        source.id: put
        for source in sources
        for put in reversed(every)
        if put.replaced
        and put.source.uri == source.uri
        and put.source_id != source.id
        and put.at > last.get(source.id, source.created_at)
    }
