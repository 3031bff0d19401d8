"""Put uploaded files into a collection: small ones while the sender waits, all or none; larger ones by a worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import file_content
from timemachine.core.pure.errors import Conflict, InvalidInput, TooLarge
from timemachine.knowledge.commands import NewFrame, PutResult
from timemachine.knowledge.models import Collection, Source
from timemachine.knowledge.sources import (
    FrameEdited,
    FrameEnded,
    edited_frames,
    ended_frames,
    record_put,
    store_source,
)
from timemachine.recording.answering import commands as answering
from timemachine.recording.importing.models import FAILED
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn, Prepared, prepare
from timemachine.recording.intake.queries import on_their_way
from timemachine.recording.sessions.commands import require_open
from timemachine.recording.sessions.models import Session
from timemachine.text.pure.documents.document import LARGEST_FILE
from timemachine.text.pure.documents.formats import format_of

AT_ONCE_BYTES: Final = 256 * 1024
AT_ONCE_PASSAGES: Final = 1_000
AT_ONCE_SECONDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePut:
    """The result of putting a file immediately. `frames` are the passages, `puts` the result of each.

    `ended_frames` are the first twenty frames that it ended. `edited` are frames that were edited by hand while
    another frame has their old text from the file.
    """

    source: Source | None
    frames: list[NewFrame]
    puts: list[PutResult]
    sequences: list[int]
    ended: int
    ended_frames: list[FrameEnded]
    edited: list[FrameEdited]

    @property
    def new(self) -> int:
        """The number of passages that were not there before."""
        return sum(1 for each in self.puts if not each.already_there)

    @property
    def already_there(self) -> int:
        """The number of the other passages."""
        return len(self.puts) - self.new


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The result of an upload: the files were put, or a worker will put them."""

    collection: Collection
    done: tuple[FilePut, ...] = ()
    intakes: tuple[Intake, ...] = ()

    @property
    def sequences(self) -> list[int]:
        """The steps that recorded them."""
        return [sequence for each in self.done for sequence in each.sequences]


def check(file: HandedIn) -> None:
    """Raise `InvalidInput` or `TooLarge` for a file that no worker could put."""
    if not file.data:
        raise InvalidInput(f"{file.name or 'This file'} is empty.", code="empty_file")
    if len(file.data) > LARGEST_FILE:
        raise TooLarge(
            f"{file.name} has {len(file.data):,} bytes; the maximum is {LARGEST_FILE:,}. Split it.",
            limit_bytes=LARGEST_FILE,
        )
    format_of(file.name, file.data)


def prepare_at_once(file: HandedIn) -> Prepared:
    """Return the passages of a file whose sender waits, in at most `AT_ONCE_SECONDS`. Raises as `prepare` does."""
    return prepare(file, seconds=min(AT_ONCE_SECONDS, settings.DOCUMENT_SECONDS))


def take(
    files: Sequence[HandedIn],
    into: Callable[[], Collection],
    *,
    by: str,
    session: Session | None = None,
    read: Callable[[HandedIn], Prepared] = prepare_at_once,
) -> Taken:
    """Put the files, or store them for a worker: all of them or none.

    They are stored if they are large, or if an earlier file with the same URI is still being put. `into` returns the
    collection, created if necessary. Raises as `prepare` and `hand_in` do; then no collection was created.
    """
    prepared = _few(files, read)
    with transaction.atomic():
        collection = into()
        if prepared is not None and not any(_must_wait(collection, each) for each in prepared):
            done = tuple(put_at_once(collection, each, by=by, session=session) for each in prepared)
            return Taken(collection=collection, done=done)
        intakes = tuple(hand_in(collection, file, by=by, session=session) for file in files)
        return Taken(collection=collection, intakes=intakes)


def _few(files: Sequence[HandedIn], read: Callable[[HandedIn], Prepared]) -> list[Prepared] | None:
    """Return the passages of the files if they are few enough for the sender to wait."""
    if (
        any(format_of(file.name, file.data) == "pdf" for file in files)
        or sum(len(file.data) for file in files) > AT_ONCE_BYTES
    ):
        return None
    found = [read(file) for file in files]
    return found if sum(len(each.frames) for each in found) <= AT_ONCE_PASSAGES else None


def _must_wait(collection: Collection, prepared: Prepared) -> bool:
    """Return whether an earlier file with the same URI is still being put into the collection."""
    return prepared.source is not None and on_their_way(collection, prepared.source.uri).exists()


@transaction.atomic
def put_at_once(
    collection: Collection, prepared: Prepared, *, by: str, session: Session | None = None
) -> FilePut:
    """Put all passages of a file, or none; in a session each is recorded as a step.

    Raises `Conflict` if an earlier file with its URI is still being put, because the newer file must win.
    """
    source = None if prepared.source is None else store_source(collection, prepared.source, by=by)
    if _must_wait(collection, prepared):
        raise Conflict(
            "An earlier file with this URI is still being processed. Send this one again when it has finished.",
            code="file_on_its_way",
        )
    frames = prepared.of_source(None if source is None else source.id)
    done = answering.put(collection, frames, by=by, session=session)
    new = sum(1 for each in done.puts if not each.already_there)
    note = None if source is None else record_put(source, frames, by=by, new=new, replace=prepared.replace)
    return FilePut(
        source=source,
        frames=frames,
        puts=done.puts,
        sequences=done.sequences,
        ended=note.ended if note else 0,
        ended_frames=ended_frames(note) if note else [],
        edited=[] if source is None else edited_frames(source),
    )


@transaction.atomic
def hand_in(collection: Collection, file: HandedIn, *, by: str, session: Session | None = None) -> Intake:
    """Store the file for a worker. Once this is committed, the file will be put. Raises `InvalidInput`, `Conflict`."""
    check(file)
    if session is not None:
        require_open(session)
    content = file_content(file.data)
    return Intake.objects.create(
        project_id=collection.project_id,
        collection=collection,
        session=session,
        recorded=session is not None,
        name=file.name,
        title=file.title,
        uri=file.uri,
        replace=file.replace,
        payload_id=store(collection.project_id, [content])[content],
        put_by=by,
        enqueued_at=now(),
    )


def dismiss(intake: Intake, *, by: str) -> None:
    """Remove a failed file from the list of its collection; its page shows who did. Raises `Conflict` for any other file."""
    failed = Intake.objects.filter(id=intake.id, status=FAILED, dismissed_at=None)
    if failed.update(dismissed_at=now(), dismissed_by=by):
        return
    if not Intake.objects.filter(id=intake.id, dismissed_at__isnull=False).exists():
        raise Conflict("This file did not fail. Only failed files can be dismissed.", code="not_failed")


def overdue() -> QuerySet[Intake]:
    """Return the intakes that have passages to put."""
    return Intake.objects.filter(finished_at=None)


def next_after(intake_id: UUID) -> list[UUID]:
    """Return the file that waited for this one and should be enqueued now; empty while this one has not finished."""
    finished = (
        Intake.objects.filter(id=intake_id, finished_at__isnull=False).select_related("collection").first()
    )
    if finished is None:
        return []
    waiting = on_their_way(finished.collection, finished.uri or finished.name)
    return list(waiting.order_by("id").values_list("id", flat=True)[:1])


def collection_of(intake_id: UUID) -> list[UUID]:
    """Return the collection of an intake, or nothing if it was deleted."""
    return list(Intake.objects.filter(id=intake_id).values_list("collection_id", flat=True))
