"""The result of an import as text. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from timemachine.cli.formatting import bar, listed, one_line, shortened
from timemachine.cli.output.table import table
from timemachine.cli.source import shown_name
from timemachine.client.errors import ClientError
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

AT_ONCE_BYTES: Final = 1024 * 1024
"""A larger file is imported in the background, with progress in the terminal."""


def import_progress(name: str, found: types.FileImportOut) -> str:
    """The progress of an import in one line."""
    if found["total"] is None:
        return f"{name}: {found['status']}"
    return f"{name}: {bar(found['done'], found['total'])} {counted(found['total'], 'action')}"


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
