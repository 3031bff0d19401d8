"""Files of a form on their way into a collection: small ones are put at once, all or none; others are handed to a worker."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest

from timemachine.base.errors import InvalidInput
from timemachine.base.wording import counted
from timemachine.intake.commands import (
    AT_ONCE_BYTES,
    AT_ONCE_PASSAGES,
    AT_ONCE_SECONDS,
    FilePut,
    check,
    hand_in,
    is_small,
    must_wait,
    put_at_once,
)
from timemachine.intake.models import Intake
from timemachine.intake.preparing import HandedIn, Prepared, prepare
from timemachine.jobs import ring_backlog, ring_intake
from timemachine.recording.models import Session
from timemachine.retrieval.commands import Put
from timemachine.retrieval.models import Collection
from timemachine.retrieval.replacing import MOST_NAMED, EndedFrame
from timemachine.web.receiving import received
from timemachine.web.wording import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of the files: they were put, or they are on their way."""

    done: tuple[FilePut, ...] = ()
    intakes: tuple[Intake, ...] = ()

    @property
    def sequences(self) -> list[int]:
        """The steps that recorded them."""
        return [sequence for each in self.done for sequence in each.sequences]


def handed_in(request: HttpRequest, *, replace: bool, uri: str = "") -> list[HandedIn]:
    """The files of a form; a `uri` is that of its one file.

    Raises `InvalidInput` where there is none, one that cannot be used, or two that would have the same uri.
    """
    files = received(request, "file")
    if not files:
        raise InvalidInput("Choose at least one file.", code="no_file")
    found = [HandedIn(name=file.name, data=file.data, uri=uri, replace=replace) for file in files]
    _check_uris(found)
    for file in found:
        with _named(file):
            check(file)
    return found


def take(
    files: Sequence[HandedIn], into: Callable[[], Collection], *, by: str, session: Session | None = None
) -> Taken:
    """Put the files or keep them for a worker: all of them, or none. `into` gives the collection, made where there is none."""
    prepared = _prepared(files)
    with transaction.atomic():
        collection = into()
        if prepared is not None and not any(must_wait(collection, each) for each in prepared):
            ring_backlog(collection.id)
            return Taken(
                done=tuple(put_at_once(collection, each, by=by, session=session) for each in prepared)
            )
        intakes = tuple(hand_in(collection, file, by=by, session=session) for file in files)
        for intake in intakes:
            ring_intake(intake.id)
        return Taken(intakes=intakes)


def _check_uris(files: Sequence[HandedIn]) -> None:
    uris = Counter(file.uri or file.name for file in files)
    twice = next((uri for uri, count in uris.items() if count > 1), None)
    if twice is None:
        return
    if files[0].uri:
        raise InvalidInput(
            "A URI names one file; choose one, or leave the URI out.", code="same_uri", field="uri"
        )
    raise InvalidInput(
        f"Two of the files are called {twice}: a browser sends no folders, so one would stand for the other. "
        "Upload them one by one, each with a URI of its own.",
        code="same_uri",
    )


def what_was_put(puts: Sequence[Put], ended: int = 0, named: Sequence[EndedFrame] = ()) -> str:
    """A sentence that says which frames there are now, which stood already, and how many were ended."""
    new = [done.frame.number for done in puts if not done.already_there]
    same = len(puts) - len(new)
    gone = f" {counted(ended, 'passage')} of an earlier version ended{_which(ended, named)}." if ended else ""
    if not new:
        where = f"as frame {puts[0].frame.number}" if same == 1 else "all of it"
        return f"This stood in the collection already, {where}: nothing was added.{gone}"
    numbers = f"frame {new[0]}" if len(new) == 1 else f"frames {new[0]} to {new[-1]}"
    already = f", {same:,} stood there already" if same else ""
    return f"{counted(len(new), 'passage')} put: {numbers}{already}.{gone}"


def _which(ended: int, named: Sequence[EndedFrame]) -> str:
    """The frames that were ended, the first twenty by name."""
    if not named:
        return ""
    said = [
        f"#{each.frame}{f' “{shown(each.title)}”' if each.title else ''}"
        f"{', edited by hand since' if each.edited else ''}"
        for each in named
    ]
    rest = f" and {ended - len(named):,} more" if ended > len(named) else ""
    return f": {'; '.join(said)}{rest}"


def what_was_taken(taken: Taken) -> str:
    """A sentence that says what became of the files."""
    if taken.intakes:
        return f"{counted(len(taken.intakes), 'file')} handed in; the passages are put now."
    return what_was_put(
        [put for each in taken.done for put in each.puts],
        sum(each.ended for each in taken.done),
        [frame for each in taken.done for frame in each.ended_frames][:MOST_NAMED],
    )


def _prepared(files: Sequence[HandedIn]) -> list[Prepared] | None:
    """The files' passages, where they are few enough for somebody to wait for."""
    if not all(is_small(file) for file in files) or sum(len(file.data) for file in files) > AT_ONCE_BYTES:
        return None
    found = []
    for file in files:
        with _named(file):
            found.append(prepare(file, seconds=AT_ONCE_SECONDS))
    return found if sum(len(each.frames) for each in found) <= AT_ONCE_PASSAGES else None


@contextmanager
def _named(file: HandedIn) -> Iterator[None]:
    """A refusal says which file it is about."""
    try:
        yield
    except InvalidInput as why:
        if file.name in why.message:
            raise
        says = why.message.removeprefix("Line ")
        between = ", line " if says != why.message else ": "
        raise type(why)(f"{file.name}{between}{says}", code=why.code, **why.facts) from why
