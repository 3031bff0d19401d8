"""What an import came to, as people read it. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from timemachine.cli.formatting import bar, listed, one_line, shortened
from timemachine.cli.output.table import table
from timemachine.cli.source import shown_name
from timemachine.client.errors import ClientError
from timemachine.core.pure.numbers import counted

AT_ONCE_BYTES: Final = 1024 * 1024
"""A larger file is imported by a worker, and the terminal says how far it is."""


def how_far(name: str, found: dict[str, Any]) -> str:
    """One line about an import that is on its way."""
    if found["total"] is None:
        return f"{name}: {found['status']}"
    return f"{name}: {bar(found['done'], found['total'])} {counted(found['total'], 'action')}"


def import_outcome(over: dict[str, Any]) -> dict[str, Any]:
    """What an import that is over came to, as one that was waited for answers. Raises `ClientError` where it failed."""
    if over["status"] != "done":
        raise ClientError(over["error"]["message"], code=over["error"]["code"])
    return {"sessions": over["sessions"], "report": over["report"]}


def import_document(
    done: Sequence[tuple[str, dict[str, Any]]], refused: Mapping[str, ClientError], *, several: bool
) -> dict[str, Any]:
    """The document of one file; of several a list of theirs, in which one that was refused has its `error`."""
    if not several and done:
        return done[0][1]
    errors = [
        {"file": file, "error": {"code": why.code, "message": why.message}} for file, why in refused.items()
    ]
    return {"imports": [*(each for _, each in done), *errors]}


def import_lines(done: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """For each file its sessions, then what became of its lines."""
    for number, (file, document) in enumerate(done):
        if number:
            yield ""
        if len(done) > 1:
            yield f"{shown_name(file)}:"
        yield from _sessions(document["sessions"])
        yield from _report(document["report"])


def _sessions(sessions: Sequence[dict[str, Any]]) -> Iterator[str]:
    heads = ["session", "key", "name", "actions", "already there"]
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
    yield from table(heads, rows, right=("actions", "already there"))
    for each in sessions:
        yield from _deleted(each)


def _deleted(session: dict[str, Any]) -> Iterator[str]:
    """That a session, or turns of it, were deleted here before."""
    if before := session.get("deleted_before"):
        because = f": {one_line(before['reason'])}" if before["reason"] else ""
        by = f" by {before['by']}" if before["by"] else ""
        yield f"{session['key']} was deleted here on {before['at'][:10]}{by}{because}. This import has brought it again."
    elif number := session.get("deleted_turns"):
        stay = "was deleted here, and stays so" if number == 1 else "were deleted here, and stay so"
        yield f"{counted(number, 'turn')} of {session['key']} {stay}."


def _report(report: dict[str, Any]) -> Iterator[str]:
    became = f" became {listed(report['became'])}" if report["became"] else ""
    yield f"{counted(report['lines'], 'line')}{became}; {counted(len(report['skipped']), 'line')} skipped."
    reasons = defaultdict(list)
    for each in report["skipped"]:
        reasons[each["reason"]].append(each["line"])
    for reason, lines in reasons.items():
        yield f"  {'line' if len(lines) == 1 else 'lines'} {_runs(lines)}: {one_line(reason)}"
    yield from (f"  {one_line(note)}" for note in report["notes"])


def _runs(numbers: Sequence[int]) -> str:
    """Numbers in their order, those that follow each other as one run: `3, 7–9`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in runs)
