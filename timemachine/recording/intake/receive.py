"""Receive files: small ones are put while the sender waits, all or none; larger ones are stored for a worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db import transaction

from timemachine.knowledge.models import Collection
from timemachine.recording.intake.commands import FilePut, hand_in, must_wait, put_at_once
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn, Prepared, prepare
from timemachine.recording.sessions.models import Session
from timemachine.text.pure.documents.formats import format_of

AT_ONCE_BYTES: Final = 256 * 1024
AT_ONCE_PASSAGES: Final = 1_000
AT_ONCE_SECONDS: Final = 10


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
        if prepared is not None and not any(must_wait(collection, each) for each in prepared):
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
