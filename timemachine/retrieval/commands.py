"""What changes in a collection: frames are put, updated and deleted. Every version stays; only its end is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import content_of, text_sha256
from timemachine.base.errors import Conflict, InvalidInput, NotFound, TooLarge
from timemachine.base.faithful import searchable
from timemachine.payloads.commands import keep
from timemachine.retrieval import embedding
from timemachine.retrieval.models import Collection, Frame, FrameEmbedding

NAME = re.compile(r"[^\s/\\?#%\x00-\x1f\x7f](?:[^/\\?#%\x00-\x1f\x7f]{0,198}[^\s/\\?#%\x00-\x1f\x7f])?")
INDEXED_CHARACTERS = 200_000
LARGEST_FRAME = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFrame:
    """A passage to be put. `number` names the frame that it is a new version of."""

    text: str
    title: str = ""
    uri: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What a put came to. `already_there`: the same text, title and uri stood in the collection; nothing was added."""

    frame: Frame
    already_there: bool


def make_collection(project: Project, name: str, *, by: str) -> Collection:
    """A new, empty collection. Raises `InvalidInput` for a name that a URL cannot carry, `Conflict` where it is taken."""
    _check_name(name)
    try:
        with transaction.atomic():
            return Collection.objects.create(
                project=project, name=name, created_by=by, embedding_model=embedding.EMBEDDING_MODEL
            )
    except IntegrityError as why:
        raise Conflict(
            f"A collection named {name!r} exists already.", code="collection_exists", name=name
        ) from why


def collection_named(project: Project, name: str, *, by: str) -> Collection:
    """The project's collection of that name, made where there was none."""
    found = Collection.objects.filter(project=project, name=name).first()
    if found is not None:
        return found
    try:
        return make_collection(project, name, by=by)
    except Conflict:
        return Collection.objects.get(project=project, name=name)


def put(collection: Collection, frames: Sequence[NewFrame], *, by: str) -> list[Put]:
    """Put passages into a collection, all or none, in their order. Raises `InvalidInput`, `TooLarge`, `NotFound`."""
    for frame in frames:
        _check_frame(frame)
    vectors = embedding.embed([_for_search(frame) for frame in frames])
    with transaction.atomic():
        locked = Collection.objects.select_for_update().get(id=collection.id)
        done = [_put_one(locked, frame, by) for frame in frames]
        locked.save(update_fields=["next_number"])
        _embed(locked, done, vectors)
    return done


@transaction.atomic
def delete(collection: Collection, number: int) -> Frame:
    """End the current version of a frame; its history stays. Raises `NotFound` where there is no current one."""
    Collection.objects.select_for_update().get(id=collection.id)
    frame = _current(collection, number)
    _end(frame, "delete")
    return frame


def _put_one(collection: Collection, new: NewFrame, by: str) -> Put:
    sha256 = text_sha256(new.text)
    if new.number is not None:
        return _update(collection, new, sha256, by)
    same = Frame.objects.filter(
        collection=collection, sha256=sha256, title=new.title, uri=new.uri, valid_until=None
    ).first()
    if same is not None:
        return Put(frame=same, already_there=True)
    number = collection.next_number
    collection.next_number += 1
    return Put(frame=_insert(collection, new, number, 1, by), already_there=False)


def _update(collection: Collection, new: NewFrame, sha256: str, by: str) -> Put:
    current = _current(collection, new.number or 0)
    unchanged = (current.sha256, current.title, current.uri, current.metadata) == (
        sha256,
        new.title,
        new.uri,
        new.metadata,
    )
    if unchanged:
        return Put(frame=current, already_there=True)
    _end(current, "update")
    return Put(frame=_insert(collection, new, current.number, current.version + 1, by), already_there=False)


def _insert(collection: Collection, new: NewFrame, number: int, version: int, by: str) -> Frame:
    content = content_of(new.text)
    kept = keep(collection.project_id, [content])
    return Frame.objects.create(
        project_id=collection.project_id,
        collection=collection,
        number=number,
        version=version,
        title=new.title,
        uri=new.uri,
        metadata=new.metadata,
        payload_id=kept[content],
        sha256=content.sha256,
        search_title=searchable(new.title)[:INDEXED_CHARACTERS],
        search_text=searchable(new.text)[:INDEXED_CHARACTERS],
        valid_from=now(),
        put_by=by,
    )


def _embed(collection: Collection, done: Sequence[Put], vectors: Any) -> None:
    rows = [
        FrameEmbedding(
            frame=result.frame,
            collection=collection,
            model=collection.embedding_model,
            vector=vector.tolist(),
        )
        for result, vector in zip(done, vectors, strict=True)
        if not result.already_there and vector.any()
    ]
    FrameEmbedding.objects.bulk_create(rows, ignore_conflicts=True)


def _end(frame: Frame, cause: str) -> None:
    Frame.objects.filter(id=frame.id).update(valid_until=now(), ended_by=cause)


def _current(collection: Collection, number: int) -> Frame:
    frame = Frame.objects.filter(collection=collection, number=number, valid_until=None).first()
    if frame is None:
        raise NotFound(
            f"The collection {collection.name} has no current frame {number}.",
            code="frame_not_found",
            frame=number,
        )
    return frame


def _for_search(frame: NewFrame) -> str:
    return searchable(f"{frame.title}\n{frame.text}" if frame.title else frame.text)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:60]!r} cannot name a collection; use 1 to 200 characters without / \\ ? # % or control characters.",
            code="invalid_field",
            field="name",
        )


def _check_frame(frame: NewFrame) -> None:
    if not frame.text.strip():
        raise InvalidInput("A frame needs text; this one is empty.", code="invalid_field", field="text")
    size = len(frame.text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"This frame has {size:,} bytes; a frame may have {LARGEST_FRAME:,}. Put it in parts.",
            limit_bytes=LARGEST_FRAME,
        )
