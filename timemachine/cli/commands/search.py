"""`search`: steps of all sessions by what they say."""

from collections.abc import Iterator
from typing import Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import one_line, score, shortened
from timemachine.cli.group import OneEach
from timemachine.cli.paging import tell_more
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted, spaced

_EXCERPT: Final = 140


@click.command(cls=OneEach)
@click.option("--query", required=True, metavar="Q", help='Words, "phrases", -not, or.')
@click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), help="How to look for steps.")
@click.option("--kind", metavar="KIND", help="Only steps of this kind.")
@click.option("--tool", metavar="TOOL", help="Only steps of this tool.")
@click.option("--model", metavar="M", help="Only steps of this model.")
@click.option("--agent", metavar="AGENT", help="Only steps of this agent.")
@click.option(
    "--status",
    type=click.Choice(["error", "ok", "recording", "ended"]),
    help="Only steps that failed, or did not; or of sessions that record, or have ended.",
)
@click.option("--user", metavar="USER", help="Only sessions of this user.")
@click.option("--tag", metavar="TAG", help="Only steps with this tag, or of sessions with it.")
@click.option("--min-cost", type=float, metavar="USD", help="Only sessions that cost as much or more.")
@click.option("--since", metavar="WHEN", help="Only steps from then on: RFC 3339, or a date.")
@click.option("--until", metavar="WHEN", help="Only steps until then: RFC 3339, or a date.")
@click.option("--session", metavar="ID", help="Only steps of this session (its id or key).")
@click.option("--limit", type=int, metavar="N", help="How many sessions at most, up to 200.")
@click.option("--after", metavar="PLACE", help="Go on from the `next` of an earlier search.")
@options.as_json
def search(*, query: str, as_json: bool, **wanted: Any) -> None:
    """Search what was said and done in all sessions."""
    with connected() as client:
        found = client.search(query, **wanted)
        show(found, _lines(found), as_json=as_json)


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if found["no_embeddings"]:
        yield f"Nothing was compared by its meaning: {one_line(found['no_embeddings'])}"
    for item in found["items"]:
        yield from _session(item)
    if not found["items"]:
        yield f"Nothing was found. {one_line(found['nothing'])}"
    if found["not_indexed"]:
        yield f"{counted(found['not_indexed'], 'step')} still being indexed, which no search finds yet."
    tell_more(found, of="sessions")


def _session(item: dict[str, Any]) -> Iterator[str]:
    session = item["session"]
    yield f"{one_line(session['name'])}  {session['key']}"
    for hit in item["hits"]:
        scores = ", ".join(f"{name} {score(value)}" for name, value in hit["scores"].items())
        failed = "error: " if hit["failed"] else ""
        yield f"{hit['sequence']:>7,}  {spaced(hit['kind'])}  {failed}{shortened(hit['label'], 60)}  ({scores})"
        if hit["passage"]:
            yield f"         {hit['passage']['in']}: {shortened(hit['passage']['text'], _EXCERPT)}"
    if item["more"]:
        yield f"         {item['more']:,} more in this session: --session {session['key']}"
    yield ""
