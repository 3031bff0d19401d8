"""`timemachine session note` and `session notes`: sentences pinned to steps, beside the record."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import one_line, visible
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts
from timemachine.cli.paging import tell_more
from timemachine.cli.terminal import show
from timemachine.cli.times import local


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--step", type=click.IntRange(min=1), required=True, metavar="N", help="The step it is about.")
@click.option("--text", required=True, metavar="TEXT", help="What it says: 1 to 2,000 characters.")
@options.as_json
def note(*, session: str, step: int, text: str, as_json: bool) -> None:
    """Pin a note to a step.

    The recorded session is not changed.
    """
    with connected() as client:
        made = client.notes.add(session, step, text=text)
        show(made, _added(made), as_json=as_json)


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, metavar="N")
@click.option("--after", metavar="PLACE", help="Go on from where the page before ended.")
@options.as_json
def notes(*, session: str, limit: int, after: str | None, as_json: bool) -> None:
    """List the notes of a session, step by step."""
    with connected() as client:
        found = client.notes.page(session, limit=limit, after=after)
        show(found, _listed(found), as_json=as_json)


def _added(made: dict[str, Any]) -> Iterator[str]:
    yield f"Step {made['sequence']:,} has a note."
    yield from facts([("id", made["id"]), ("address", made["url"])])


def _listed(found: dict[str, Any]) -> Iterator[str]:
    if not found["items"]:
        yield "There is no note; pin one with `timemachine session note ID --step N --text …`."
        return
    for each in found["items"]:
        yield f"step {each['sequence']:,}  {local(each['created_at'])}  {one_line(each['created_by'])}"
        for line in each["text"].split("\n"):
            yield f"  {visible(line)}"
    tell_more(found)
