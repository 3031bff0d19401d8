"""What became of a file's passages when the file came again: which were ended, which had been edited by hand."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef

from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage, SourcePut

MOST_NAMED: Final = 20
MOST_PUTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedFrame:
    """A frame that was ended; `edited` where its last version was written by hand over a passage of a file."""

    frame: int
    version: int
    title: str
    edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedFrame:
    """A frame that was edited by hand, and `beside`, the frame that has the text of the file it had before; both are current."""

    frame: int
    beside: int
    title: str


def edited_beside(source: Source) -> list[EditedFrame]:
    """The frames that were edited by hand while a current passage of the file has, in another frame, the text from before.

    A file that is put again without a `replace` brings such a text back.
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
        number: EditedFrame(frame=number, beside=beside[sha256, title, uri], title=title)
        for sha256, title, uri, number in found
        if (sha256, title, uri) in beside
    }
    return list(edited.values())


def edited_by_hand() -> Exists:
    """Whether a version of a frame is in no file while an earlier version of it is a passage of one."""
    earlier = SourcePassage.objects.filter(
        frame__collection=OuterRef("collection"),
        frame__number=OuterRef("number"),
        frame__version__lt=OuterRef("version"),
    )
    return Exists(earlier)


def ended_frames(put: SourcePut) -> list[EndedFrame]:
    """The first twenty frames that putting a file ended, those that were edited by hand before the others."""
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
        EndedFrame(
            frame=each.number,
            version=each.version,
            title=each.title,
            edited=each.after_a_file and not each.in_a_file,
        )
        for each in found.order_by("in_a_file", "-after_a_file", "number")[:MOST_NAMED]
    ]


def replaced_by(collection: Collection, sources: Iterable[Source]) -> dict[UUID, SourcePut]:
    """For each file that is not the current one of its uri, the putting of another file that took its place."""
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
