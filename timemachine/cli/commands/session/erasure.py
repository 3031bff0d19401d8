"""`session erase`: permanently erase fields of a session, or what a redaction profile matches in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import confirm, show

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

LONGEST: Final = 100
PAUSE: Final = 0.5  # seconds between two requests


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--redaction",
    metavar="PROFILE",
    help="Erase everything that this redaction profile (name or id) matches.",
)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="PATH",
    help="Erase this field, for example output or session.user.",
)
@click.option(
    "--step",
    "steps",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Only in this step; repeat for several.",
)
@click.option(
    "--reason", metavar="TEXT", help="Why; stored in the project's log. Without it, only a preview is shown."
)
@options.yes
@options.as_json
def erase(
    *,
    session: str,
    redaction: str | None,
    fields: tuple[str, ...],
    steps: tuple[int, ...],
    reason: str | None,
) -> None:
    """Permanently erase fields of a session, or preview it.

    A tombstone in the project's log records who erased it, when and why.
    """
    if (redaction is None) == (not fields):
        raise click.UsageError("Use either --redaction or --field.")
    client = connected()
    found = waited(client, client.erasures.prepare(session, redaction=redaction, fields=fields, steps=steps))
    if reason is not None and not found["problem"]:
        _confirm(found)
        found = waited(client, client.erasures.confirm(found["id"], reason=reason))
    if found["problem"]:
        raise Failure(found["problem"])
    show(found, _lines(found))


def _confirm(found: types.ErasureOut) -> None:
    """Show the preview and ask, unless it is empty. Raises `Failure` if the answer is no."""
    preview = cast("types.ErasureCounts", found["preview"])
    parts = preview["steps"], preview["of_session"], preview["replay_steps"], preview["elsewhere"]
    if any(parts):
        confirm("Permanently erase this?", _lines(found), otherwise="Nothing was erased.")


def waited(client: Client, erasure: types.ErasureOut) -> types.ErasureOut:
    """Wait for the erasure and return it."""
    while erasure["status"] in ("looking", "erasing"):
        time.sleep(PAUSE)
        erasure = client.erasures.get(erasure["id"])
    return erasure


def _fields(effect: types.ErasureCounts) -> Iterator[tuple[str, str]]:
    """The number of erased fields in the records of the session and of its replays."""
    of = effect["fields_of"]
    yield "fields of the session", f"{of['session']:,}"
    yield "fields of its replays", f"{of['replays']:,}"


def _steps(effect: types.ErasureCounts) -> str:
    """The number of affected steps, and the first of them."""
    first = effect["first_steps"]
    more = ", …" if effect["steps"] > len(first) else ""
    return f"{effect['steps']:,}" + (f": {', '.join(map(str, first))}{more}" if first else "")


def _repeated(found: types.ErasureOut, effect: types.ErasureCounts) -> str:
    if not found["steps"] or effect["steps"] <= len(found["steps"]):
        return ""
    return "the same text in other steps is erased too"


def _place(line: types.ErasedPlace) -> str:
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    return shortened(f"{step}, {line['field']}", LONGEST)


def _lines(found: types.ErasureOut) -> Iterator[str]:
    done = found["status"] == "done"
    effect = cast("types.ErasureCounts", found["result"] or found["preview"])
    yield (
        f"Permanently erased by {found['confirmed_by']}." if done else "Preview. Add --reason to erase this:"
    )
    counts = [(f"step field {each['field']}", f"{each['count']:,}") for each in effect["of_steps"]]
    counts += [(f"{each['rule']} ({each['what']})", f"{each['count']:,}") for each in effect["counts"]]
    counts += [(each["place"], f"{each['count']:,}") for each in effect["elsewhere"]]
    yield from facts(
        [
            ("steps", _steps(effect)),
            ("copies", _repeated(found, effect)),
            ("of the session", ", ".join(effect["of_session"]) or "nothing"),
            ("steps of replays", f"{effect['replay_steps']:,}"),
            *_fields(effect),
            *counts,
            ("search", "these steps are indexed again"),
        ]
    )
    if found.get("first"):
        yield "First matches, as they would read:"
        yield from facts([(_place(each), shortened(each["text"], LONGEST)) for each in found["first"]])
    if effect["collections"]:
        yield f"Not changed: the collections {', '.join(effect['collections'])}, which contain passages of it."
    yield from may_quote(effect)
    if effect["kept_by_others"]:
        yield f"{effect['kept_by_others']:,} of the texts stay because other records also use them."


def may_quote(effect: types.ErasureCounts) -> Iterator[str]:
    """The summaries that stay and may quote what was erased."""
    for each in effect["summaries"]:
        yield f"A summary that may quote it stays in the collection {each['collection']}, frame {each['frame']:,}."
