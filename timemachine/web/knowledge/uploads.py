"""Store uploaded files in a collection: small ones immediately, all or none; large ones in the background."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.safe_text import shown
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import PutResult
from timemachine.knowledge.models import Collection
from timemachine.knowledge.sources import MOST_NAMED, FrameEdited, FrameEnded
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.intake import commands as intakes
from timemachine.recording.intake.commands import Taken, prepare_at_once
from timemachine.recording.intake.preparing import HandedIn, Prepared
from timemachine.recording.sessions.models import Session
from timemachine.recording.tasks import run_intake
from timemachine.web.uploads import received


def handed_in(request: HttpRequest, *, replace: bool, uri: str = "") -> list[HandedIn]:
    """Return the files of a form; `uri` is that of a single file.

    Raises `InvalidInput` without a file, for an invalid one, or for two with the same URI.
    """
    files = received(request, "file")
    if not files:
        raise InvalidInput("Choose at least one file.", code="no_file")
    found = [HandedIn(name=file.name, data=file.data, uri=uri, replace=replace) for file in files]
    with _all_or_none(found):
        _check_uris(found)
        for file in found:
            with _named(file):
                intakes.check(file)
    return found


def take(
    files: Sequence[HandedIn], into: Callable[[], Collection], *, by: str, session: Session | None = None
) -> Taken:
    """Store the files, or queue them for a worker; errors name the file."""
    with _all_or_none(files):
        taken = intakes.take(files, into, by=by, session=session, read=_read)
    if taken.done:
        enqueue(embed_backlog, taken.collection.id)
    enqueue(run_intake, *(each.id for each in taken.intakes))
    return taken


def _check_uris(files: Sequence[HandedIn]) -> None:
    uris = Counter(file.uri or file.name for file in files)
    twice = next((uri for uri, count in uris.items() if count > 1), None)
    if twice is None:
        return
    if files[0].uri:
        raise InvalidInput(
            "A URI belongs to a single file. Choose one file, or leave the URI empty.",
            code="same_uri",
            field="uri",
        )
    raise InvalidInput(
        f"Two files have the name {twice}. Browsers do not send folders, so both would get the same "
        "URI. Upload them one at a time with different URIs.",
        code="same_uri",
    )


def stored_sentence(puts: Sequence[PutResult], ended: int = 0, named: Sequence[FrameEnded] = ()) -> str:
    """Return a sentence about new, unchanged and ended passages."""
    new = [done.frame.number for done in puts if not done.already_there]
    same = len(puts) - len(new)
    ended_text = (
        f" {counted(ended, 'passage')} of an earlier version ended{_which(ended, named)}." if ended else ""
    )
    if not new:
        where = f"as frame {puts[0].frame.number}" if same == 1 else "all of it"
        return f"Already in the collection, {where}. Nothing was added.{ended_text}"
    numbers = f"frame {new[0]}" if len(new) == 1 else f"frames {new[0]} to {new[-1]}"
    already = f", {same:,} unchanged" if same else ""
    return f"{counted(len(new), 'passage')} stored: {numbers}{already}.{ended_text}"


def _which(ended: int, named: Sequence[FrameEnded]) -> str:
    """Return the ended frames, the first twenty by name."""
    if not named:
        return ""
    parts = [
        f"#{each.frame}{f' “{shown(each.title)}”' if each.title else ''}"
        f"{', edited manually since' if each.edited else ''}"
        for each in named
    ]
    rest = f" and {ended - len(named):,} more" if ended > len(named) else ""
    return f": {'; '.join(parts)}{rest}"


def report_upload(request: HttpRequest, taken: Taken) -> None:
    """Show the result of the upload on the next page, and warn about manually edited passages whose old text is current again."""
    messages.success(request, _upload_result(taken))
    edited = [frame for each in taken.done for frame in each.edited]
    if edited:
        messages.warning(request, edited_warning(edited))


def edited_warning(edited: Sequence[FrameEdited]) -> str:
    """Return a warning about passages of a file that were edited manually and whose old text is current again, and what to do."""
    parts = [
        f"#{each.frame}{f' “{shown(each.title)}”' if each.title else ''} next to #{each.beside}"
        for each in edited[:MOST_NAMED]
    ]
    rest = f" and {len(edited) - len(parts):,} more" if len(edited) > len(parts) else ""
    were = "was edited manually, and its" if len(edited) == 1 else "were edited manually, and their"
    return (
        f"{counted(len(edited), 'passage')} {were} old text from the file is current alongside the edit: {'; '.join(parts)}{rest}. Delete "
        "the wrong frame, or upload the file again with “Replace the earlier version”, which ends the edited passage."
    )


def _upload_result(taken: Taken) -> str:
    if taken.intakes:
        return f"{counted(len(taken.intakes), 'file')} uploaded. The passages are stored in the background."
    return stored_sentence(
        [put for each in taken.done for put in each.puts],
        sum(each.ended for each in taken.done),
        [frame for each in taken.done for frame in each.ended_frames][:MOST_NAMED],
    )


def _read(file: HandedIn) -> Prepared:
    with _named(file):
        return prepare_at_once(file)


@contextmanager
def _all_or_none(files: Sequence[HandedIn]) -> Iterator[None]:
    """Add to the error of one file that the others were not stored either."""
    try:
        yield
    except InvalidInput as why:
        if len(files) == 1:
            raise
        sentence = f"{why.message} None of the {len(files)} files were stored."
        raise type(why)(sentence, code=why.code, **why.facts) from why


@contextmanager
def _named(file: HandedIn) -> Iterator[None]:
    """Add the file name to an error."""
    try:
        yield
    except InvalidInput as why:
        if file.name in why.message:
            raise
        says = why.message.removeprefix("Line ")
        between = ", line " if says != why.message else ": "
        raise type(why)(f"{file.name}{between}{says}", code=why.code, **why.facts) from why
