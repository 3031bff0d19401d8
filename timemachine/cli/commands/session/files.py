"""`session import`, `session export` and `session transcript`: sessions as files and as text."""

from __future__ import annotations

import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure, Unreadable
from timemachine.cli.formatting import file_progress, listed, one_line, shortened
from timemachine.cli.output.table import table
from timemachine.cli.source import opened, shown_name
from timemachine.cli.terminal import Progress, show, wants_json, write
from timemachine.client.errors import ClientError, NoServer, Unreachable
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

AT_ONCE_BYTES: Final = 1024 * 1024
"""A larger file is imported in the background, with progress in the terminal."""


NOT_SESSIONS: Final = {"unknown_format", "empty_file"}
"""Codes of files that are skipped if they were found in a folder."""


@click.command("import", cls=OneEach)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--format", "format_name", metavar="F", help="The format (default: detected from the content).")
@options.as_json
def import_(*, files: tuple[str, ...], format_name: str | None) -> None:
    """Import recordings of other tools: files, or all files in a folder.

    Importing the same file again adds nothing; a longer version adds what is new. A file that is refused does not stop the others.
    What is no recording in a folder is skipped, and so are hidden files.
    """
    done: list[tuple[str, types.ImportOut]] = []
    refused: dict[str, ClientError] = {}
    named, found = _in_folders(files)
    client = connected()
    with Progress() as progress:
        for number, file in enumerate(named, start=1):
            progress.update(f"importing {shown_name(file)} ({number} of {len(named)})")
            try:
                done.append((file, _imported(client, file, format_name, progress)))
            except (NoServer, Unreachable) as why:
                were = "was" if len(done) == 1 else "were"
                before = f" ({counted(len(done), 'file')} before it {were} imported.)" if done else ""
                raise Failure(f"{shown_name(file)}: {why.message}{before}") from why
            except Unreadable as why:
                refused[file] = ClientError(f"Cannot read it ({why.why}).", code="unreadable")
            except ClientError as why:
                refused[file] = why
    skipped = {file: why for file, why in refused.items() if file in found and why.code in NOT_SESSIONS}
    if done:
        lines = brief_lines(done, skipped) if found else import_lines(done)
        show(import_document(done, refused, several=len(files) > 1 or bool(found)), lines)
    problems = [f"{shown_name(file)}: {why.message}" for file, why in refused.items() if file not in skipped]
    if not done and not problems:
        raise Failure(f"{' and '.join(files)}: {counted(len(skipped), 'file')}, and none can be imported.")
    if problems:
        raise Failure(" ".join(problems))


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option(
    "--format",
    "format_name",
    metavar="F",
    help="The format (default: Time Machine's own, which keeps everything).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write (default: standard output).",
)
@options.as_json
def export(*, target: str, format_name: str | None, output: Path | None) -> None:
    """Export a session, also while it is recording.

    Importing a file in our format, here or elsewhere, gives an equal session.
    """
    if output is None and wants_json():
        raise click.UsageError("--json describes the file. Use it with -o FILE.")
    if output is None and sys.stdout.isatty() and format_name == "zip":
        raise click.UsageError("A ZIP file cannot be printed. Use -o FILE.")
    client = connected()
    if output is None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "export"
            client.sessions.export(target, file, format=format_name)
            with file.open("rb") as opened:
                shutil.copyfileobj(opened, sys.stdout.buffer)
        return
    try:
        through = client.sessions.export(target, output, format=format_name)
    except OSError as why:
        raise Failure(f"Cannot write {output} ({why.strerror}). Choose another file.") from why
    made = {"file": str(output), "bytes": output.stat().st_size, "through": through}
    show(made, [f"{output}: {made['bytes']:,} bytes, {counted(through, 'action')}"])


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@options.several(
    "--significance",
    metavar="S",
    help="Only steps with this significance: decision, solution, breakthrough …",
)
@options.several(
    "--role", metavar="R", help="Only steps with this role: user, agent (or assistant), system, tool"
)
@options.several("--kind", metavar="K", help="Only steps of this kind: message, ask, tool_call …")
@options.several("--tag", metavar="T", help="Only steps with this tag")
@options.min_importance
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="Only the most important steps that fit in N tokens.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "messages"]),
    default="text",
    show_default=True,
    help="Output as text for a prompt or as chat messages.",
)
@options.as_json
def transcript(*, target: str, form: str, **filters: Any) -> None:
    """Print a session as text for a prompt: all turns in order, or the important ones.

    Reports how many of the recorded turns and tokens are included, and marks where turns are left out.
    """
    client = connected()
    if wants_json() or form == "messages":
        found = client.sessions.transcript(target, form="json" if wants_json() else form, **filters)
        write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        write(client.sessions.transcript_text(target, **filters))


def _in_folders(given: Sequence[str]) -> tuple[list[str], set[str]]:
    """The files to import, in order, with those of folders in place of these; and which of them were found in a folder.

    Hidden files and folders inside a given one are left out.
    """
    files: list[str] = []
    found: set[str] = set()
    for name in given:
        folder = Path(name)
        if not folder.is_dir():
            files.append(name)
            continue
        inside = [
            str(each)
            for each in sorted(folder.rglob("*"))
            if each.is_file() and not any(part.startswith(".") for part in each.relative_to(folder).parts)
        ]
        files += inside
        found.update(inside)
    return files, found


def _imported(client: Client, file: str, format_name: str | None, progress: Progress) -> types.ImportOut:
    with opened(file) as data:
        size = data.seek(0, SEEK_END)
        if not size:
            raise ClientError("The file is empty.", code="empty_file")
        name = file.rpartition("/")[2]
        later = size > AT_ONCE_BYTES
        begun = client.import_file(data, filename=name, format_name=format_name, later=later)
    if "sessions" in begun:
        return begun
    finished = client.wait_for_import(
        begun["import_id"], lambda found: progress.update(file_progress(shown_name(file), found, "action"))
    )
    return import_outcome(finished)


def import_outcome(finished: types.FileImportOut) -> types.ImportOut:
    """The result of a finished import, like the answer to a small file. Raises `ClientError` if it failed."""
    if finished["error"] is not None:
        raise ClientError(finished["error"]["message"], code=finished["error"]["code"])
    return cast("types.ImportOut", {"sessions": finished["sessions"], "report": finished["report"]})


def import_document(
    done: Sequence[tuple[str, types.ImportOut]], refused: Mapping[str, ClientError], *, several: bool
) -> Mapping[str, object]:
    """The document of one file, or the list for several, in which a refused file has an `error`."""
    if not several and done:
        return done[0][1]
    errors = [
        {"file": file, "error": {"code": why.code, "message": why.message}} for file, why in refused.items()
    ]
    return {"imports": [*(each for _, each in done), *errors]}


def brief_lines(
    done: Sequence[tuple[str, types.ImportOut]], skipped: Mapping[str, ClientError]
) -> Iterator[str]:
    """One line for each file: what was imported from it, or why it was skipped."""
    for file, document in done:
        sessions, report = document["sessions"], document["report"]
        new = sum(each["actions"] - each["already_there"] for each in sessions)
        which = f"session {sessions[0]['key']}" if len(sessions) == 1 else counted(len(sessions), "session")
        lost = f", {counted(len(report['skipped']), 'line')} skipped" if report["skipped"] else ""
        yield f"{file}: {which}, {counted(sum(each['actions'] for each in sessions), 'action')}, {new:,} new{lost}"
    yield from (f"{file}: skipped: {one_line(why.message)}" for file, why in skipped.items())


def import_lines(done: Sequence[tuple[str, types.ImportOut]]) -> Iterator[str]:
    """For each file its sessions, then the report on its lines."""
    for number, (file, document) in enumerate(done):
        if number:
            yield ""
        if len(done) > 1:
            yield f"{shown_name(file)}:"
        yield from _sessions(document["sessions"])
        yield from _report(document["report"])


def _sessions(sessions: Sequence[types.SessionImported]) -> Iterator[str]:
    heads = ["session", "key", "name", "actions", "already imported"]
    rows = [
        [
            each["id"],
            each["key"],
            shortened(each["name"], 40),
            f"{each['actions']:,}",
            f"{each['already_there']:,}",
        ]
        for each in sessions
    ]
    yield from table(heads, rows, right=("actions", "already imported"))
    for each in sessions:
        yield from _deleted(each)


def _deleted(session: types.SessionImported) -> Iterator[str]:
    """Whether the session or steps of it had been deleted here."""
    if before := session.get("deleted_before"):
        because = f": {one_line(before['reason'])}" if before["reason"] else ""
        by = f" by {before['by']}" if before["by"] else ""
        yield f"{session['key']} was deleted here on {before['at'][:10]}{by}{because}. This import restored it."
    elif number := session.get("deleted_turns"):
        were = "was" if number == 1 else "were"
        yield f"{counted(number, 'step')} of {session['key']} {were} deleted here. Importing does not restore deleted steps."


def _report(report: types.ImportReportOut) -> Iterator[str]:
    kinds = f" imported as {listed(report['became'])}" if report["became"] else ""
    yield f"{counted(report['lines'], 'line')}{kinds}; {counted(len(report['skipped']), 'line')} skipped."
    reasons = defaultdict(list)
    for each in report["skipped"]:
        reasons[each["reason"]].append(each["line"])
    for reason, lines in reasons.items():
        yield f"  {'line' if len(lines) == 1 else 'lines'} {_runs(lines)}: {one_line(reason)}"
    yield from (f"  {one_line(note)}" for note in report["notes"])


def _runs(numbers: Sequence[int]) -> str:
    """Numbers in order, with ranges: `3, 7–9`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in runs)
