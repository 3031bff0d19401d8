"""`timemachine session erase`: fields of a session, or what a redaction profile finds in it, go for good."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts
from timemachine.cli.question import confirmed
from timemachine.cli.terminal import show

if TYPE_CHECKING:
    from timemachine.client.client import Client

LONGEST: Final = 100
PAUSE: Final = 0.5  # seconds between two looks at what a worker does


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--redaction", metavar="PROFILE", help="Erase whatever this redaction profile finds: its name or id."
)
@click.option(
    "--field", "fields", multiple=True, metavar="PATH", help="Erase this field, as in output or session.user."
)
@click.option(
    "--step", "steps", multiple=True, type=click.IntRange(min=1), metavar="N", help="Only of this step."
)
@click.option(
    "--reason", metavar="TEXT", help="Why; it stays in the project's log. Without it nothing is erased."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
def erase(
    *,
    session: str,
    redaction: str | None,
    fields: tuple[str, ...],
    steps: tuple[int, ...],
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase fields of a session for good, or show what would go.

    What is erased is in no table any more; a tombstone in the project's log says who erased it, when and why.
    """
    if (redaction is None) == (not fields):
        raise click.UsageError("Give either --redaction or --field.")
    with connected() as client:
        found = waited(
            client, client.erasures.prepare(session, redaction=redaction, fields=fields, steps=steps)
        )
        if reason is not None and not found["problem"]:
            _agreed(found, yes=yes)
            found = waited(client, client.erasures.confirm(found["id"], reason=reason))
        if found["problem"]:
            raise Failure(found["problem"])
        show(found, _told(found), as_json=as_json)


def _agreed(found: dict[str, Any], *, yes: bool) -> None:
    """Show what would go and ask, where there is something and `--yes` was not said. Raises `Failure` where the answer is another."""
    preview = found["preview"]
    if yes or not any(preview[name] for name in ("steps", "of_session", "replay_steps", "elsewhere")):
        return
    for line in _told(found):
        click.echo(line, err=True)
    if not confirmed("Erase this for good?"):
        raise Failure("Nothing was erased; answer yes, or say --yes.")


def waited(client: "Client", erasure: dict[str, Any]) -> dict[str, Any]:
    """The erasure once a worker is through with it."""
    while erasure["status"] in ("looking", "erasing"):
        time.sleep(PAUSE)
        erasure = client.erasures.get(erasure["id"])
    return erasure


def _fields(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """How many fields of records it takes, of the session and of its replays, each as often as something went."""
    if of := told.get("fields_of"):
        yield "fields of its records", f"{of['session']:,}"
        yield "fields of its replays' records", f"{of['replays']:,}"


def _steps(told: dict[str, Any]) -> str:
    """How many recorded steps it takes something of, and the first of them."""
    first = told.get("first_steps") or []
    more = ", …" if told["steps"] > len(first) else ""
    return f"{told['steps']:,}" + (f": {', '.join(map(str, first))}{more}" if first else "")


def _repeated(found: dict[str, Any], told: dict[str, Any]) -> str:
    if not found["steps"] or told["steps"] <= len(found["steps"]):
        return ""
    return "what was chosen stands word for word in other steps, too, and goes there as well"


def _place(line: dict[str, Any]) -> str:
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    return shortened(f"{step}, {line['field']}", LONGEST)


def _told(found: dict[str, Any]) -> Iterator[str]:
    done = found["status"] == "done"
    told = found["result"] if done else found["preview"]
    yield (
        f"Erased for good, by {found['confirmed_by']}."
        if done
        else "Nothing is erased yet; with --reason and a yes this is erased:"
    )
    counts = [(f"step field {each['field']}", f"{each['count']:,}") for each in told["of_steps"]]
    counts += [(f"{each['rule']} ({each['what']})", f"{each['count']:,}") for each in told["counts"]]
    counts += [(each["place"], f"{each['count']:,}") for each in told["elsewhere"]]
    yield from facts(
        [
            ("steps", _steps(told)),
            ("more than chosen", _repeated(found, told)),
            ("of the session", ", ".join(told["of_session"]) or "nothing"),
            ("steps of replays", f"{told['replay_steps']:,}"),
            *_fields(told),
            *counts,
            ("search", "words and vectors of these steps are made anew"),
        ]
    )
    if found.get("first"):
        yield "The first of them, as they would read:"
        yield from facts([(_place(each), shortened(each["text"], LONGEST)) for each in found["first"]])
    if told["collections"]:
        yield f"Not touched: the collections {', '.join(told['collections'])}, whose passages it had."
    yield from may_quote(told)
    if told["kept_by_others"]:
        yield f"{told['kept_by_others']:,} of the texts stay, because other records use them, too."


def may_quote(told: dict[str, Any]) -> Iterator[str]:
    """The summaries that stay, and may quote what goes or went."""
    for each in told.get("summaries", ()):
        yield f"A summary that may quote it stays in the collection {each['collection']}, frame {each['frame']:,}."
