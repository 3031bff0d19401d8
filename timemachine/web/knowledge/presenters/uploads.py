"""Files of a form on their way into a collection: small ones are put at once, all or none; others are handed to a worker."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.formatting import counted
from timemachine.core.pure.safe_text import shown
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import Put
from timemachine.knowledge.models import Collection
from timemachine.knowledge.replacing import MOST_NAMED, EditedFrame, EndedFrame
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.intake import receive
from timemachine.recording.intake.commands import check
from timemachine.recording.intake.preparing import HandedIn, Prepared
from timemachine.recording.intake.receive import Taken, prepare_at_once
from timemachine.recording.sessions.models import Session
from timemachine.recording.tasks import run_intake
from timemachine.web.upload_limits import received


def handed_in(request: HttpRequest, *, replace: bool, uri: str = "") -> list[HandedIn]:
    """The files of a form; a `uri` is that of its one file.

    Raises `InvalidInput` where there is none, one that cannot be used, or two that would have the same uri.
    """
    files = received(request, "file")
    if not files:
        raise InvalidInput("Choose at least one file.", code="no_file")
    found = [HandedIn(name=file.name, data=file.data, uri=uri, replace=replace) for file in files]
    with _all_or_none(found):
        _check_uris(found)
        for file in found:
            with _named(file):
                check(file)
    return found


def take(
    files: Sequence[HandedIn], into: Callable[[], Collection], *, by: str, session: Session | None = None
) -> Taken:
    """Put the files, or keep them and enqueue them for a worker; a refusal says which file it is about."""
    with _all_or_none(files):
        taken = receive.take(files, into, by=by, session=session, read=_read)
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


def tell_taken(request: HttpRequest, taken: Taken) -> None:
    """Say on the next page what became of the files, and warn of passages that were edited by hand and have their old text again."""
    messages.success(request, _what_was_taken(taken))
    edited = [frame for each in taken.done for frame in each.edited]
    if edited:
        messages.warning(request, what_was_edited(edited))


def what_was_edited(edited: Sequence[EditedFrame]) -> str:
    """A sentence that says which passages of a file were edited by hand while their old text stands beside them, and what to do."""
    said = [
        f"#{each.frame}{f' “{shown(each.title)}”' if each.title else ''} beside #{each.beside}"
        for each in edited[:MOST_NAMED]
    ]
    rest = f" and {len(edited) - len(said):,} more" if len(edited) > len(said) else ""
    were = "was edited by hand, and its" if len(edited) == 1 else "were edited by hand, and their"
    return (
        f"{counted(len(edited), 'passage')} {were} old text from the file is current beside the edit: {'; '.join(said)}{rest}. Delete "
        "the frame that is wrong, or upload the file once more with “Replace the earlier version”, which ends what was edited."
    )


def _what_was_taken(taken: Taken) -> str:
    """A sentence that says what became of the files."""
    if taken.intakes:
        return f"{counted(len(taken.intakes), 'file')} handed in; a worker puts the passages."
    return what_was_put(
        [put for each in taken.done for put in each.puts],
        sum(each.ended for each in taken.done),
        [frame for each in taken.done for frame in each.ended_frames][:MOST_NAMED],
    )


def _read(file: HandedIn) -> Prepared:
    with _named(file):
        return prepare_at_once(file)


@contextmanager
def _all_or_none(files: Sequence[HandedIn]) -> Iterator[None]:
    """A refusal of one of several files says that the others were not put either."""
    try:
        yield
    except InvalidInput as why:
        if len(files) == 1:
            raise
        said = f"{why.message} None of the {len(files)} files was put."
        raise type(why)(said, code=why.code, **why.facts) from why


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
