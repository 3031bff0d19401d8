"""`put` and `reembed`: store text and files in a collection, and change its embedding model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import bar, file_progress, one_line, steps
from timemachine.cli.recorded_in import session_to_record_in
from timemachine.cli.source import (
    STANDARD_INPUT,
    batches,
    empty,
    is_frames_file,
    json_size,
    read_bytes,
    read_frames,
)
from timemachine.cli.terminal import Progress, show, waiting, wants_json
from timemachine.client.errors import ClientError
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.sent_file import SentFile
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

_PAUSE = 0.5  # seconds between two requests
_SHOWN_FRAMES = 20


@click.command(cls=OneEach)
@click.argument("collection")
@click.argument("files", nargs=-1, metavar="[FILE…|-]")
@click.option("--title", metavar="T", help="Title, for a single text or file.")
@click.option("--uri", metavar="U", help="Source URI, for a single text or file.")
@click.option(
    "--replace",
    is_flag=True,
    help="End frames that an earlier version of the file had and this version lacks.",
)
@options.session_to_record_in
@options.as_json
def put(
    *,
    collection: str,
    files: tuple[str, ...],
    title: str | None,
    uri: str | None,
    replace: bool,
    session: str | None,
    no_session: bool,
) -> None:
    """Put text and files into a collection.

    Creates the collection if needed. Text, Markdown, HTML and PDF files are split into frames at headings and paragraphs. A .jsonl
    file has one frame on each line: title, uri and text; other fields become metadata. Without a file, or with -, standard input
    becomes one frame.
    """
    loads = _loads(files or ("-",), title=title, uri=uri, replace=replace)
    done = _Done(most_listed=None if wants_json() else _SHOWN_FRAMES)
    client = connected()
    session = session_to_record_in(client, collection, session, no_session=no_session)
    with Progress() as progress:
        for load in loads:
            if isinstance(load, SentFile):
                _send_file(client, collection, load, session, done, progress)
            else:
                _send_frames(client, collection, load, session, done, progress)
    show(done.document(), _lines(collection, done, session))


class _File(TypedDict):
    """A file that was stored; `intake` is the work in the background, if there was any."""

    file: str | None
    intake: str | None
    source: types.SourceOut | str | None
    report: types.PutReport


@dataclass(slots=True, kw_only=True)
class _Done:
    """What was stored so far. At most `most_listed` frames of a file that was stored in the background are requested."""

    most_listed: int | None
    frames: list[Mapping[str, Any]] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    files: list[_File] = field(default_factory=list)
    new: int = 0
    already_there: int = 0
    ended: int = 0
    ended_frames: list[types.FrameEnded] = field(default_factory=list)
    edited: int = 0
    edited_frames: list[types.FrameEdited] = field(default_factory=list)

    @property
    def passages(self) -> int:
        """The number of stored passages."""
        return self.new + self.already_there

    def add(self, answer: types.PutOut | types.FilePutOut) -> None:
        """Add the answer to one request."""
        there = sum(1 for frame in answer["frames"] if frame["already_there"])
        self.frames += answer["frames"]
        self.sequences += answer["sequences"]
        self.already_there += there
        self.new += len(answer["frames"]) - there

    def add_report(self, report: types.PutReport) -> None:
        """Add the frames that a file ended, and those that were edited and whose old text it added again."""
        self.ended += report["ended"]
        self.ended_frames += report["ended_frames"]
        self.edited += report["edited"]
        self.edited_frames += report["edited_frames"]

    def document(self) -> Mapping[str, object]:
        """The JSON document; a file that was stored in the background also has its intake."""
        return {"frames": self.frames, "sequences": self.sequences, "files": self.files}


def _loads(
    files: Sequence[str], *, title: str | None, uri: str | None, replace: bool
) -> list[list[types.FrameIn] | SentFile]:
    """The contents of all files in order, read before anything is sent. Raises `UsageError`, `Failure`."""
    one = len(files) == 1
    if (title or uri) and not (one and (files[0] == STANDARD_INPUT or not is_frames_file(files[0]))):
        raise click.UsageError(
            "--title and --uri need a single text or file. A .jsonl file has them on each line."
        )
    if replace and any(is_frames_file(file) for file in files):
        raise click.UsageError("--replace needs text, Markdown, HTML or PDF files.")
    loads: list[list[types.FrameIn] | SentFile] = []
    for lines, group in groupby(files, key=is_frames_file):
        if lines:
            loads.append(read_frames(list(group), title=title, uri=uri))
        else:
            loads += [_file(file, title=title, uri=uri, replace=replace) for file in group]
    return loads


def _file(file: str, *, title: str | None, uri: str | None, replace: bool) -> SentFile:
    data = read_bytes(file)
    if not data.strip():
        raise empty(file)
    where = Path(file)
    return SentFile(name=where.name, data=data, title=title, uri=uri or where.as_posix(), replace=replace)


def _send_frames(
    client: Client,
    collection: str,
    frames: list[types.FrameIn],
    session: str | None,
    done: _Done,
    progress: Progress,
) -> None:
    before = done.passages
    for batch in batches(frames, json_size):
        with _naming_what_was_stored(done.passages):
            done.add(client.collections.put(collection, batch, session=session))
        progress.update(f"{bar(done.passages - before, len(frames))} {counted(len(frames), 'passage')}")


def _send_file(
    client: Client, collection: str, file: SentFile, session: str | None, done: _Done, progress: Progress
) -> None:
    progress.update(f"{file.name}: sent")
    with _naming_what_was_stored(done.passages, file.uri or file.name):
        answer = client.collections.put_file(collection, file, session=session)
        if "intake_id" in answer:
            intake = client.collections.wait(
                answer["intake_id"], lambda found: progress.update(file_progress(file.name, found, "passage"))
            )
            _add_intake(done, file, intake)
            done.frames += _listed(client, collection, intake, done.most_listed)
            return
    done.add(answer)
    report = answer["report"]
    done.add_report(report)
    done.files.append({"file": file.uri, "intake": None, "source": answer["source"], "report": report})


def _add_intake(done: _Done, file: SentFile, intake: types.IntakeOut) -> None:
    if intake["error"] is not None:
        put = f" {counted(intake['done'], 'passage')} of this file were stored." if intake["done"] else ""
        raise ClientError(f"{intake['error']['message']}{put}", code=intake["error"]["code"])
    report = intake["report"]
    done.new += report["new"]
    done.already_there += report["already_there"]
    done.add_report(report)
    done.files.append(
        {"file": file.uri, "intake": intake["id"], "source": intake["source"], "report": report}
    )


def _listed(
    client: Client, collection: str, intake: types.IntakeOut, most: int | None
) -> list[Mapping[str, Any]]:
    """The frames of a file that was stored in the background. Which of them existed is known only if all or none did."""
    if intake["source"] is None:
        return []
    size = LARGEST_PAGE if most is None else most
    pages = partial(client.collections.source_frames, collection, intake["source"], limit=size)
    report = intake["report"]
    there = None if report["new"] and report["already_there"] else report["new"] == 0
    found = every(lambda after: pages(after=after))
    return [{**frame, "already_there": there} for frame in islice(found, most)]


@contextmanager
def _naming_what_was_stored(already: int, file: str = "") -> Iterator[None]:
    """Name the file in a failure, and how much was stored before it: that stays, and is not added again."""
    try:
        yield
    except ClientError as why:
        named = f"{file}: {why.message}" if file and Path(file).name not in why.message else why.message
        if not already:
            raise Failure(named) from why
        raise Failure(
            f"{named} {counted(already, 'passage')} before it {'was' if already == 1 else 'were'} stored. "
            "Put the same file again to add only the rest."
        ) from why


def _lines(collection: str, done: _Done, session: str | None) -> Iterator[str]:
    for frame in done.frames[:_SHOWN_FRAMES]:
        there = ", already stored" if frame["already_there"] else ""
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"#{frame['frame']} version {frame['version']}{there}{title}"
    if done.passages > _SHOWN_FRAMES <= len(done.frames):
        yield f"… and {done.passages - _SHOWN_FRAMES:,} more"
    ended = f", {done.ended:,} ended" if done.ended else ""
    for frame in done.ended_frames:
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"ended #{frame['frame']} version {frame['version']}{title}{', edited manually since' if frame['edited'] else ''}"
    yield f"{counted(done.new, 'new frame')} in {one_line(collection)}, {done.already_there:,} already stored{ended}."
    if done.edited:
        yield from _edited(done)
    if done.sequences:
        yield f"Recorded as {steps(done.sequences)} of {session}."


def _edited(done: _Done) -> Iterator[str]:
    for frame in done.edited_frames:
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"edited manually #{frame['frame']}{title}, alongside its old text in #{frame['beside']}"
    if done.edited > len(done.edited_frames):
        yield f"… and {done.edited - len(done.edited_frames):,} more"
    were = "was" if done.edited == 1 else "were"
    yield (
        f"{counted(done.edited, 'passage')} {were} edited manually, and the file added the old text again. Delete the wrong frame, "
        "or put the file again with --replace to end the edited ones."
    )


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--model", required=True, metavar="M", help="wordllama, minilm, or server:MODEL.")
@click.option("--no-wait", is_flag=True, help="Start it and do not wait.")
@options.as_json
def reembed(*, collection: str, model: str, no_wait: bool) -> None:
    """Embed a collection with another model.

    The collection switches to the new model when all frames are embedded. The server continues on its own; run the command again to
    follow it.

    Frames that the embedding server rejects are counted with its reason and found by keyword only. Run the command again to retry
    them. Requires an API key with the scope admin.
    """
    client = connected()
    requested = client.collections.reembed(collection, model)
    chosen = (requested["target"] or requested)["embedding_model"]
    found = requested if no_wait else _followed(client, collection, chosen)
    show(found, _embedding_lines(found))


def _followed(client: Client, collection: str, chosen: str) -> types.EmbeddingOut:
    """The document once the collection has the model. Raises `Failure` if it will not get it, or only after a retry."""
    with waiting("The server continues embedding. Run the same command again to follow it.") as progress:
        while not _is_finished(found := client.collections.embedding(collection), chosen):
            progress.update(_embedding_progress(found))
            time.sleep(_PAUSE)
    return found


def _is_finished(found: types.EmbeddingOut, chosen: str) -> bool:
    if found["trouble"]:
        raise Failure(
            f"{one_line(found['trouble']['message'])} The server retries automatically. Run the same command again to follow it."
        )
    target = found["target"]
    if chosen not in (found["embedding_model"], target and target["embedding_model"]):
        other = target["embedding_model"] if target else found["embedding_model"]
        raise Failure(f"Someone chose {other} in the meantime. Run the command again if you want {chosen}.")
    return target is None and found["embedded"] + _refused(found) >= found["frames"]


def _embedding_progress(found: types.EmbeddingOut) -> str:
    embedded, frames = (found["target"] or found)["embedded"], found["frames"]
    refused = _refused(found["target"] or found)
    rejected = f", {refused:,} rejected" if refused else ""
    return f"{bar(embedded + refused, frames, shown=embedded)} {frames:,} embedded{rejected}"


def _refused(found: types.EmbeddingOut | types.EmbeddingTarget) -> int:
    return found["refused"]["count"] if found["refused"] else 0


def _embedding_lines(found: types.EmbeddingOut) -> Iterator[str]:
    target = found["target"]
    name, model = one_line(found["collection"]), (target or found)["embedding_model"]
    counts = f"{(target or found)['embedded']:,} of {found['frames']:,} embedded"
    if target:
        yield f"{name} is being embedded with {model}: {counts}. Until then, it is searched with {found['embedding_model']}."
    else:
        yield f"{name} is searched with {model}: {counts}."
    refused = (target or found)["refused"]
    if refused:
        counted = (
            f"{refused['count']:,} rejected by the embedding server (the latest is frame {refused['frame']})"
        )
        yield f"{counted}: {one_line(refused['reason'])}"
        yield "Rejected frames have no vector and are found by keyword only. Run the same command again to retry them."
