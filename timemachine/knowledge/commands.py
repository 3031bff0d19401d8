"""Change a collection: put, update and delete frames, and erase it. Frames keep every version; only its end is
written.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import drop_unreferenced, payloads_of, store
from timemachine.core.pure.content import canonical_json, content_of, text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge import hnsw
from timemachine.knowledge.collection_time import change_time, lock_for_change
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding_backlog import record_missing_vectors
from timemachine.knowledge.models import Collection, Frame, FrameEmbedding, SourcePassage
from timemachine.knowledge.pure.identifiers import identifiers
from timemachine.knowledge.reembedding import model_of_new_collections
from timemachine.knowledge.vectors import store_vectors

_NO = r"/\\?#%\x00-\x1f\x7f\ud800-\udfff"
NAME = re.compile(rf"[^\s{_NO}](?:[^{_NO}]{{0,198}}[^\s{_NO}])?")
INDEXED_CHARACTERS = 200_000
BATCH = 200
LARGEST_FRAME = 8 * 1024 * 1024 - 64 * 1024  # with its receipt it is recorded as one action of at most 8 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a passage comes from: characters `start` (inclusive) to `end` (exclusive) of a source's text."""

    source: UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFrame:
    """A passage to put. `number` names the frame of which it is a new version.

    An empty text is refused unless it `may_be_empty`: one of many passages, which keeps its place but is never
    found.
    """

    text: str
    title: str = ""
    uri: str = ""
    metadata: JsonObject = field(default_factory=dict)
    number: int | None = None
    origin: Origin | None = None
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreparedFrame:
    """A passage with the values of its row."""

    new: NewFrame
    sha256: str
    title: str
    text: str
    identifiers: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PutResult:
    """The result of a put. `already_there`: the collection already had the same text, title and uri, and nothing
    was added.
    """

    frame: Frame
    already_there: bool


def create_collection(project: Project, name: str, *, by: str, embedding_model: str = "") -> Collection:
    """Create an empty collection, with the embedding model of the settings if none is given.

    Raises `InvalidInput` for a name that a URL cannot carry, `Conflict` if it is taken, `Unavailable` if the
    model cannot be used.
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
            f"A collection named {name!r} already exists.", code="collection_exists", name=name
        ) from why


def get_or_create_collection(
    project: Project, name: str, *, by: str, embedding_model: str = ""
) -> Collection:
    """Return the project's collection of that name, created if there was none. Raises `InvalidInput` for an
    invalid name.
    """
    check_name(name)
    found = Collection.objects.filter(project=project, name=name).first()
    if found is not None:
        return found
    try:
        return create_collection(project, name, by=by, embedding_model=embedding_model)
    except Conflict:
        return Collection.objects.get(project=project, name=name)


def put_frames(collection: Collection, frames: Sequence[NewFrame], *, by: str) -> list[PutResult]:
    """Put passages into a collection, all or none, in their order. Raises `InvalidInput`, `TooLarge`, `NotFound`.

    A slow embedding model is not waited for: its vectors are recorded as missing, and a job creates them.
    """
    for frame in frames:
        _check_frame(frame)
    model = table.model_named(collection.embedding_model)
    vectors = None if model.slow else model.embed([_for_search(frame) for frame in frames])
    ready = [_prepared(frame) for frame in frames]  # before the lock
    with transaction.atomic():
        locked = lock_collection(collection)
        stored = store(locked.project_id, [content_of(frame.text) for frame in frames])
        payloads = {content.sha256: row for content, row in stored.items()}
        done = _put_all(locked, ready, payloads, by)
        locked.save(update_fields=["next_number"])
        _store_places(frames, done)
        _store_vectors(locked, model.name, done, vectors)
    return done


@transaction.atomic
def delete_frame(collection: Collection, number: int, *, by: str) -> Frame:
    """End the current version of a frame. Its history stays. Raises `NotFound` if the frame has no current
    version.
    """
    lock_collection(collection)
    frame = _current(collection, number)
    _end(frame, "delete", change_time(collection.id), deleted_by=by)
    return frame


def _prepared(new: NewFrame) -> _PreparedFrame:
    title, text = (searchable(value)[:INDEXED_CHARACTERS] for value in (new.title, new.text))
    return _PreparedFrame(
        new=new,
        sha256=text_sha256(new.text),
        title=title,
        text=text,
        identifiers=list(identifiers(f"{title}\n{text}")),
    )


def lock_collection(collection: Collection) -> Collection:
    """Lock the collection for a change until this transaction ends, and return its row. Raises `NotFound` if it
    was deleted.
    """
    held = Collection.objects.select_for_update().filter(id=collection.id).first()
    if held is None:
        raise NotFound("This collection was deleted.", code="collection_not_found")
    lock_for_change(collection.id)
    return held


def _put_all(
    collection: Collection, frames: Sequence[_PreparedFrame], payloads: Mapping[str, int], by: str
) -> list[PutResult]:
    """Write the rows of the passages. An update ends the current version; an identical passage returns the frame
    that has it.
    """
    standing = _current_frames(collection, payloads)
    moment = change_time(collection.id)
    fresh: list[Frame] = []
    done: list[PutResult] = []
    for ready in frames:
        payload = payloads[ready.sha256]
        if ready.new.number is not None:
            done.append(_update(collection, ready, payload, by, moment, standing))
            continue
        name = passage_identity(ready.sha256, ready.new)
        already_there = name in standing
        if not already_there:
            standing[name] = _row(collection, ready, payload, collection.next_number, 1, by, moment)
            collection.next_number += 1
            fresh.append(standing[name])
        done.append(PutResult(frame=standing[name], already_there=already_there))
    Frame.objects.bulk_create(fresh, batch_size=BATCH)
    return done


def _current_frames(collection: Collection, payloads: Mapping[str, int]) -> dict[tuple[str, ...], Frame]:
    same = Frame.objects.filter(collection=collection, sha256__in=list(payloads), valid_until=None)
    return {passage_identity(frame.sha256, frame): frame for frame in same.order_by("-number")}


def passage_identity(sha256: str, frame: NewFrame | Frame) -> tuple[str, ...]:
    """Return what makes two passages the same."""
    return sha256, frame.title, frame.uri, canonical_json(frame.metadata).decode()


def _update(
    collection: Collection,
    ready: _PreparedFrame,
    payload_id: int,
    by: str,
    moment: datetime,
    standing: dict[tuple[str, ...], Frame],
) -> PutResult:
    current = _current(collection, ready.new.number or 0)
    row = _row(collection, ready, payload_id, current.number, current.version + 1, by, moment)
    before = passage_identity(current.sha256, current)
    if before == passage_identity(row.sha256, row):
        return PutResult(frame=current, already_there=True)
    _end(current, "update", moment)
    if before in standing and standing[before].number == current.number:
        del standing[before]
    row.save(force_insert=True)
    standing.setdefault(passage_identity(row.sha256, row), row)
    return PutResult(frame=row, already_there=False)


def _row(
    collection: Collection,
    ready: _PreparedFrame,
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
        **_origin_fields(new.origin),
    )


def _origin_fields(origin: Origin | None) -> dict[str, object]:
    if origin is None:
        return {}
    return {"source_id": origin.source, "source_start": origin.start, "source_end": origin.end}


def _store_places(frames: Sequence[NewFrame], done: Sequence[PutResult]) -> None:
    """Store where each passage is in its file, also for passages that the collection already had."""
    places = [
        SourcePassage(
            source_id=new.origin.source, frame=result.frame, start=new.origin.start, end=new.origin.end
        )
        for new, result in zip(frames, done, strict=True)
        if new.origin is not None
    ]
    SourcePassage.objects.bulk_create(places, batch_size=BATCH, ignore_conflicts=True)


def _store_vectors(
    collection: Collection, model: str, done: Sequence[PutResult], vectors: table.Vectors | None
) -> None:
    """Store the vectors of new frames, or record which are missing."""
    new = [place for place, result in enumerate(done) if not result.already_there]
    if vectors is not None:
        store_vectors(collection, model, [done[place].frame for place in new], vectors[new])
    re_embedded_meanwhile = collection.embedding_model != model
    if new and (vectors is None or re_embedded_meanwhile):
        record_missing_vectors(collection)


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
    """Raise `InvalidInput` if a collection cannot have this name. Postgres cannot even look up some of those."""
    if not NAME.fullmatch(name) or name in {".", ".."}:  # browsers remove these from a URL
        raise InvalidInput(
            f"{name[:60]!r} is not a valid collection name. Use 1 to 200 characters without / \\ ? # % or control characters.",
            code="invalid_field",
            field="name",
        )


def _check_frame(frame: NewFrame) -> None:
    if not frame.text.strip() and not frame.may_be_empty:
        raise InvalidInput("The text of a frame must not be empty.", code="invalid_field", field="text")
    size = len(frame.text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"This frame has {size:,} bytes; the limit is {LARGEST_FRAME:,}. Split it into several frames.",
            limit_bytes=LARGEST_FRAME,
        )


@transaction.atomic
def erase_collection(collection: Collection) -> int:
    """Delete a collection and every version of its frames. Return how many versions there were.

    Passages that sessions have frozen stay with them. Raises `Conflict` if a session still uses the collection.
    """
    Collection.objects.select_for_update().get(id=collection.id)
    lock_for_change(collection.id)
    held = payloads_of(collection)
    frames = Frame.objects.filter(collection=collection)
    versions = frames.count()
    if _is_named(collection):
        raise Conflict(
            f"The collection {collection.name} is used by sessions. Delete them first.",
            code="collection_in_use",
        )
    for model in (
        FrameEmbedding.objects.filter(collection=collection).values_list("model", flat=True).distinct()
    ):
        hnsw.drop(collection.id, model)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        cursor.execute("DELETE FROM tm_frame WHERE collection_id = %s", [collection.id])
        cursor.execute("DELETE FROM tm_source WHERE collection_id = %s", [collection.id])
        cursor.execute("DELETE FROM tm_collection WHERE id = %s", [collection.id])
        drop_unreferenced(held)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    return versions


def _is_named(collection: Collection) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM tm_session WHERE collection_id = %s)", [collection.id])
        row = cursor.fetchone()
    return bool(row and row[0])
