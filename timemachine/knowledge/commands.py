"""What changes in a collection: frames are put, updated and deleted. Every version stays; only its end is written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import canonical_json, content_of, text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, TooLarge
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.collection_time import hold_for_change, stamp
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding_backlog import note_missing
from timemachine.knowledge.models import Collection, Frame, SourcePassage
from timemachine.knowledge.pure.identifiers import identifiers
from timemachine.knowledge.reembedding import model_of_new_collections
from timemachine.knowledge.vectors import keep_vectors

_NO = r"/\\?#%\x00-\x1f\x7f\ud800-\udfff"
NAME = re.compile(rf"[^\s{_NO}](?:[^{_NO}]{{0,198}}[^\s{_NO}])?")
INDEXED_CHARACTERS = 200_000
BATCH = 200
LARGEST_FRAME = 8 * 1024 * 1024 - 64 * 1024  # with its receipt it is recorded as one action of at most 8 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a passage comes from: characters `start` to before `end` of a source's text."""

    source: UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFrame:
    """A passage to be put. `number` names the frame that it is a new version of.

    A text with nothing in it is refused, unless it `may_be_empty`: one of many, kept in its place though no find returns it.
    """

    text: str
    title: str = ""
    uri: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    number: int | None = None
    origin: Origin | None = None
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A passage with what its row is made of."""

    new: NewFrame
    sha256: str
    title: str
    text: str
    identifiers: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What a put came to. `already_there`: the same text, title and uri stood in the collection; nothing was added."""

    frame: Frame
    already_there: bool


def make_collection(project: Project, name: str, *, by: str, embedding_model: str = "") -> Collection:
    """A new, empty collection, with the embedding model of the settings where none is named.

    Raises `InvalidInput` for a name that a URL cannot carry, `Conflict` where it is taken, `Unavailable` where the model is.
    """
    check_name(name)
    model = model_of_new_collections(embedding_model)
    try:
        with transaction.atomic():
            return Collection.objects.create(
                project=project, name=name, created_by=by, embedding_model=model.name
            )
    except IntegrityError as why:
        raise Conflict(
            f"A collection named {name!r} exists already.", code="collection_exists", name=name
        ) from why


def collection_named(project: Project, name: str, *, by: str, embedding_model: str = "") -> Collection:
    """The project's collection of that name, made where there was none. Raises `InvalidInput` for a name that none can have."""
    check_name(name)
    found = Collection.objects.filter(project=project, name=name).first()
    if found is not None:
        return found
    try:
        return make_collection(project, name, by=by, embedding_model=embedding_model)
    except Conflict:
        return Collection.objects.get(project=project, name=name)


def put(collection: Collection, frames: Sequence[NewFrame], *, by: str) -> list[Put]:
    """Put passages into a collection, all or none, in their order. Raises `InvalidInput`, `TooLarge`, `NotFound`.

    A slow embedding model is not waited for: its vectors are noted as missing, and the backlog makes them.
    """
    for frame in frames:
        _check_frame(frame)
    model = table.named(collection.embedding_model)
    vectors = None if model.slow else model.embed([_for_search(frame) for frame in frames])
    ready = [_ready(frame) for frame in frames]  # before anybody has to wait
    with transaction.atomic():
        locked = lock(collection)
        kept = store(locked.project_id, [content_of(frame.text) for frame in frames])
        payloads = {content.sha256: row for content, row in kept.items()}
        done = _put_all(locked, ready, payloads, by)
        locked.save(update_fields=["next_number"])
        _keep_places(frames, done)
        _keep_vectors(locked, model.name, done, vectors)
    return done


@transaction.atomic
def delete(collection: Collection, number: int, *, by: str) -> Frame:
    """End the current version of a frame; its history stays, and who ended it. Raises `NotFound` where there is no current one."""
    lock(collection)
    frame = _current(collection, number)
    _end(frame, "delete", stamp(collection.id), deleted_by=by)
    return frame


def _ready(new: NewFrame) -> _Ready:
    title, text = (searchable(said)[:INDEXED_CHARACTERS] for said in (new.title, new.text))
    return _Ready(
        new=new,
        sha256=text_sha256(new.text),
        title=title,
        text=text,
        identifiers=list(identifiers(f"{title}\n{text}")),
    )


def lock(collection: Collection) -> Collection:
    """The collection as it stands, held for a change until this transaction ends. Raises `NotFound` where it is gone."""
    held = Collection.objects.select_for_update().filter(id=collection.id).first()
    if held is None:
        raise NotFound("This collection is not there any more.", code="collection_not_found")
    hold_for_change(collection.id)
    return held


def _put_all(
    collection: Collection, frames: Sequence[_Ready], payloads: Mapping[str, int], by: str
) -> list[Put]:
    """The rows of the passages: an update ends its current version, the same passage again is the one that stands."""
    standing = _standing(collection, payloads)
    moment = stamp(collection.id)
    fresh: list[Frame] = []
    done: list[Put] = []
    for ready in frames:
        payload = payloads[ready.sha256]
        if ready.new.number is not None:
            done.append(_update(collection, ready, payload, by, moment, standing))
            continue
        name = identity(ready.sha256, ready.new)
        already_there = name in standing
        if not already_there:
            standing[name] = _row(collection, ready, payload, collection.next_number, 1, by, moment)
            collection.next_number += 1
            fresh.append(standing[name])
        done.append(Put(frame=standing[name], already_there=already_there))
    Frame.objects.bulk_create(fresh, batch_size=BATCH)
    return done


def _standing(collection: Collection, payloads: Mapping[str, int]) -> dict[tuple[str, ...], Frame]:
    same = Frame.objects.filter(collection=collection, sha256__in=list(payloads), valid_until=None)
    return {identity(frame.sha256, frame): frame for frame in same.order_by("-number")}


def identity(sha256: str, frame: NewFrame | Frame) -> tuple[str, ...]:
    """What makes two passages the same one."""
    return sha256, frame.title, frame.uri, canonical_json(frame.metadata).decode()


def _update(
    collection: Collection,
    ready: _Ready,
    payload_id: int,
    by: str,
    moment: datetime,
    standing: dict[tuple[str, ...], Frame],
) -> Put:
    current = _current(collection, ready.new.number or 0)
    row = _row(collection, ready, payload_id, current.number, current.version + 1, by, moment)
    before = identity(current.sha256, current)
    if before == identity(row.sha256, row):
        return Put(frame=current, already_there=True)
    _end(current, "update", moment)
    if before in standing and standing[before].number == current.number:
        del standing[before]
    row.save(force_insert=True)
    standing.setdefault(identity(row.sha256, row), row)
    return Put(frame=row, already_there=False)


def _row(
    collection: Collection,
    ready: _Ready,
    payload_id: int,
    number: int,
    version: int,
    by: str,
    moment: datetime,
) -> Frame:
    new = ready.new
    return Frame(
        project_id=collection.project_id,
        collection=collection,
        number=number,
        version=version,
        title=new.title,
        uri=new.uri,
        metadata=new.metadata,
        payload_id=payload_id,
        sha256=ready.sha256,
        search_title=ready.title,
        search_text=ready.text,
        identifiers=ready.identifiers,
        valid_from=moment,
        put_by=by,
        **_from(new.origin),
    )


def _from(origin: Origin | None) -> dict[str, Any]:
    if origin is None:
        return {}
    return {"source_id": origin.source, "source_start": origin.start, "source_end": origin.end}


def _keep_places(frames: Sequence[NewFrame], done: Sequence[Put]) -> None:
    """Keep where in its file each passage stands, those that stood in the collection before the file came, too."""
    places = [
        SourcePassage(
            source_id=new.origin.source, frame=put.frame, start=new.origin.start, end=new.origin.end
        )
        for new, put in zip(frames, done, strict=True)
        if new.origin is not None
    ]
    SourcePassage.objects.bulk_create(places, batch_size=BATCH, ignore_conflicts=True)


def _keep_vectors(
    collection: Collection, model: str, done: Sequence[Put], vectors: table.Vectors | None
) -> None:
    """Keep the vectors of what is new, where they were made, and note which are missing."""
    new = [place for place, result in enumerate(done) if not result.already_there]
    if vectors is not None:
        keep_vectors(collection, model, [done[place].frame for place in new], vectors[new])
    re_embedded_meanwhile = collection.embedding_model != model
    if new and (vectors is None or re_embedded_meanwhile):
        note_missing(collection)


def _end(frame: Frame, cause: str, moment: datetime, *, deleted_by: str | None = None) -> None:
    Frame.objects.filter(id=frame.id).update(valid_until=moment, ended_by=cause, deleted_by=deleted_by)


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


def check_name(name: str) -> None:
    """Raise `InvalidInput` where the name is none that a collection can have; Postgres does not even look up all of those."""
    if not NAME.fullmatch(name) or name in {".", ".."}:  # browsers fold these out of an address
        raise InvalidInput(
            f"{name[:60]!r} cannot name a collection; use 1 to 200 characters without / \\ ? # % or control characters.",
            code="invalid_field",
            field="name",
        )


def _check_frame(frame: NewFrame) -> None:
    if not frame.text.strip() and not frame.may_be_empty:
        raise InvalidInput("A frame needs text; this one is empty.", code="invalid_field", field="text")
    size = len(frame.text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"This frame has {size:,} bytes; a frame may have {LARGEST_FRAME:,}. Put it in parts.",
            limit_bytes=LARGEST_FRAME,
        )
