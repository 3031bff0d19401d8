"""`put`: texts and files into a collection, with what became of each passage."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import bar, one_line, steps
from timemachine.cli.frames import Frame, batches, frames_of, is_lines
from timemachine.cli.group import OneEach
from timemachine.cli.source import STANDARD_INPUT, read_bytes, shown_name
from timemachine.cli.terminal import Progress, show
from timemachine.client.errors import ClientError
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.sent_file import SentFile
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client

_SHOWN_FRAMES = 20


@click.command(cls=OneEach)
@click.argument("collection")
@click.argument("files", nargs=-1, metavar="[FILE…|-]")
@click.option("--title", metavar="T", help="The title of a single text or file.")
@click.option("--uri", metavar="U", help="Where a single text or file comes from.")
@click.option(
    "--replace", is_flag=True, help="End what an earlier version of a file had and this one does not have."
)
@options.recorded_in
@options.as_json
def put(
    *,
    collection: str,
    files: tuple[str, ...],
    title: str | None,
    uri: str | None,
    replace: bool,
    session: str | None,
    as_json: bool,
) -> None:
    """Put texts and files into a collection.

    The collection is made where there is none. A text, Markdown, HTML or PDF file becomes passages at its headings and paragraphs. A .jsonl file is one passage a line: title,
    uri and text; its other fields become metadata. Without a file, or with -, standard input is read as one passage.
    """
    loads = _loads(files or ("-",), title=title, uri=uri, replace=replace)
    done = _Done(most_listed=None if as_json else _SHOWN_FRAMES)
    with connected() as client, Progress() as progress:
        for load in loads:
            if isinstance(load, SentFile):
                _send_file(client, collection, load, session, done, progress)
            else:
                _send_frames(client, collection, load, session, done, progress)
    show(done.document(), _lines(collection, done), as_json=as_json)


@dataclass(slots=True, kw_only=True)
class _Done:
    """What has become of what was sent so far; of a file that a worker put at most `most_listed` frames are asked for."""

    most_listed: int | None
    frames: list[dict[str, Any]] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    new: int = 0
    already_there: int = 0
    ended: int = 0
    ended_frames: list[dict[str, Any]] = field(default_factory=list)
    edited: int = 0
    edited_frames: list[dict[str, Any]] = field(default_factory=list)

    @property
    def passages(self) -> int:
        """How many are in."""
        return self.new + self.already_there

    def add(self, answer: dict[str, Any]) -> None:
        """What one request came to."""
        there = sum(1 for frame in answer["frames"] if frame["already_there"])
        self.frames += answer["frames"]
        self.sequences += answer["sequences"]
        self.already_there += there
        self.new += len(answer["frames"]) - there

    def add_report(self, report: dict[str, Any]) -> None:
        """What a file did beside what it put: frames that it ended, and edited ones beside which it has their old text."""
        self.ended += report["ended"]
        self.ended_frames += report["ended_frames"]
        self.edited += report["edited"]
        self.edited_frames += report["edited_frames"]

    def document(self) -> dict[str, Any]:
        """All of it as one document; a file that was put in the background has its intake, too."""
        return {"frames": self.frames, "sequences": self.sequences, "files": self.files}


def _loads(
    files: Sequence[str], *, title: str | None, uri: str | None, replace: bool
) -> list[list[Frame] | SentFile]:
    """What is to be sent, in the order of the files, all of it read before anything is sent. Raises `UsageError`, `Failure`."""
    one = len(files) == 1
    if (title or uri) and not (one and (files[0] == STANDARD_INPUT or not is_lines(files[0]))):
        raise click.UsageError(
            "--title and --uri go with one text or file; a .jsonl file has its own in each line."
        )
    if replace and any(is_lines(file) for file in files):
        raise click.UsageError("--replace goes with files of text, Markdown, HTML or PDF.")
    loads: list[list[Frame] | SentFile] = []
    for lines, group in groupby(files, key=is_lines):
        if lines:
            loads.append(frames_of(list(group), title=title, uri=uri))
        else:
            loads += [_file(file, title=title, uri=uri, replace=replace) for file in group]
    return loads


def _file(file: str, *, title: str | None, uri: str | None, replace: bool) -> SentFile:
    data = read_bytes(file)
    if not data.strip():
        raise Failure(f"{shown_name(file)} is empty; there is nothing to send.")
    where = Path(file)
    return SentFile(name=where.name, data=data, title=title, uri=uri or where.as_posix(), replace=replace)


def _send_frames(
    client: "Client",
    collection: str,
    frames: list[Frame],
    session: str | None,
    done: _Done,
    progress: Progress,
) -> None:
    before = done.passages
    for batch in batches(frames):
        with _told_what_was_put(done.passages):
            done.add(client.collections.put(collection, batch, session=session))
        progress.tell(f"{bar(done.passages - before, len(frames))} {counted(len(frames), 'passage')}")


def _send_file(
    client: "Client", collection: str, file: SentFile, session: str | None, done: _Done, progress: Progress
) -> None:
    progress.tell(f"{file.name}: sent")
    with _told_what_was_put(done.passages, file.uri or file.name):
        answer = client.collections.put_file(collection, file, session=session)
        if "intake_id" in answer:
            answer = client.collections.wait(
                answer["intake_id"], lambda intake: progress.tell(_how_far(file.name, intake))
            )
            _add_intake(done, file, answer)
            done.frames += _listed(client, collection, answer, done.most_listed)
            return
    done.add(answer)
    report = answer["report"]
    done.add_report(report)
    done.files.append({"file": file.uri, "intake": None, "source": answer["source"], "report": report})


def _how_far(name: str, intake: dict[str, Any]) -> str:
    if intake["total"] is None:
        return f"{name}: {intake['status']}"
    return f"{name}: {bar(intake['done'], intake['total'])} {counted(intake['total'], 'passage')}"


def _add_intake(done: _Done, file: SentFile, intake: dict[str, Any]) -> None:
    if intake["status"] != "done":
        put = f" {counted(intake['done'], 'passage')} of it are in." if intake["done"] else ""
        raise ClientError(f"{intake['error']['message']}{put}", code=intake["error"]["code"])
    report = intake["report"]
    done.new += report["new"]
    done.already_there += report["already_there"]
    done.add_report(report)
    done.files.append(
        {"file": file.uri, "intake": intake["id"], "source": intake["source"], "report": report}
    )


def _listed(
    client: "Client", collection: str, intake: dict[str, Any], most: int | None
) -> list[dict[str, Any]]:
    """The frames of a file that a worker put; which of them were there already is known where all were, or none."""
    if intake["source"] is None:
        return []
    size = LARGEST_PAGE if most is None else most
    pages = partial(client.collections.source_frames, collection, intake["source"], limit=size)
    report = intake["report"]
    there = None if report["new"] and report["already_there"] else report["new"] == 0
    found = every(lambda after: pages(after=after))
    return [frame | {"already_there": there} for frame in islice(found, most)]


@contextmanager
def _told_what_was_put(already: int, file: str = "") -> Iterator[None]:
    """A failure names the file, and after some requests went well it says so: what is there stays, and is not added again."""
    try:
        yield
    except ClientError as why:
        named = f"{file}: {why.message}" if file and Path(file).name not in why.message else why.message
        if not already:
            raise Failure(named) from why
        raise Failure(
            f"{named} {counted(already, 'passage')} before it {'is' if already == 1 else 'are'} in; the same file again "
            "adds only the rest."
        ) from why


def _lines(collection: str, done: _Done) -> Iterator[str]:
    for frame in done.frames[:_SHOWN_FRAMES]:
        there = ", was there already" if frame["already_there"] else ""
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"#{frame['frame']} version {frame['version']}{there}{title}"
    if done.passages > _SHOWN_FRAMES <= len(done.frames):
        yield f"… and {done.passages - _SHOWN_FRAMES:,} more"
    ended = f", {done.ended:,} ended" if done.ended else ""
    for frame in done.ended_frames:
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"ended #{frame['frame']} version {frame['version']}{title}{', edited by hand since' if frame['edited'] else ''}"
    yield f"{counted(done.new, 'new frame')} in {one_line(collection)}, {done.already_there:,} there already{ended}."
    if done.edited:
        yield from _edited(done)
    if done.sequences:
        yield f"Recorded as {steps(done.sequences)}."


def _edited(done: _Done) -> Iterator[str]:
    for frame in done.edited_frames:
        title = f": {one_line(frame['title'])}" if frame["title"] else ""
        yield f"edited by hand #{frame['frame']}{title}, beside its old text in #{frame['beside']}"
    if done.edited > len(done.edited_frames):
        yield f"… and {done.edited - len(done.edited_frames):,} more"
    were = "was edited by hand, and its" if done.edited == 1 else "were edited by hand, and their"
    yield (
        f"{counted(done.edited, 'passage')} {were} old text from the file is current beside the edit: delete the frame that is "
        "wrong, or put the file once more with --replace, which ends what was edited."
    )
