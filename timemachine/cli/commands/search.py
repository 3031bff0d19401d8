"""`search`: find steps in all sessions by their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach, suggest_next_page
from timemachine.cli.connection import connected
from timemachine.cli.formatting import listed_scores, one_line, shortened
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types

_EXCERPT: Final = 140


@click.command(cls=OneEach)
@click.option("--query", required=True, metavar="Q", help='Words, "phrases", -not, or.')
@click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), help="How to search.")
@click.option("--kind", metavar="KIND", help="Only steps of this kind.")
@click.option("--tool", metavar="TOOL", help="Only steps of this tool.")
@click.option("--model", metavar="M", help="Only steps of this model.")
@click.option("--agent", metavar="AGENT", help="Only steps of this agent.")
@click.option(
    "--status",
    type=click.Choice(["error", "ok", "recording", "ended"]),
    help="Only failed or successful steps, or only steps of sessions with this status.",
)
@click.option("--user", metavar="USER", help="Only sessions of this user.")
@click.option("--tag", metavar="TAG", help="Only steps or sessions with this tag.")
@click.option("--min-cost", type=float, metavar="USD", help="Minimum cost of the session in US dollars.")
@click.option("--since", metavar="WHEN", help="Only steps at or after this time (RFC 3339) or date.")
@click.option("--until", metavar="WHEN", help="Only steps at or before this time (RFC 3339) or date.")
@click.option("--session", metavar="ID", help="Only steps of this session (its id or key).")
@click.option("--limit", type=int, metavar="N", help="Maximum number of sessions, up to 200.")
@options.after
@options.as_json
def search(*, query: str, **filters: Any) -> None:
    """Search labels, tools, errors, inputs and outputs in all sessions."""
    found = connected().search(query, **filters)
    show(found, _lines(found))


def _lines(found: types.SearchPage) -> Iterator[str]:
    if found["no_embeddings"]:
        yield f"Searched by keyword only: {one_line(found['no_embeddings'])}"
    for item in found["items"]:
        yield from _session(item)
    if not found["items"]:
        yield f"No results. {one_line(found['nothing'] or '')}"
    if found["not_indexed"]:
        yield f"{counted(found['not_indexed'], 'step')} waiting to be indexed. Try again in a moment."
    suggest_next_page(found, of="sessions")


def _session(item: types.SessionHits) -> Iterator[str]:
    session = item["session"]
    yield f"{one_line(session['name'])}  {session['key']}"
    for hit in item["hits"]:
        scores = listed_scores(hit["scores"])
        failed = "error: " if hit["failed"] else ""
        yield f"{hit['sequence']:>7,}  {spaced(hit['kind'])}  {failed}{shortened(hit['label'], 60)}  ({scores})"
        if hit["passage"]:
            yield f"         {hit['passage']['in']}: {shortened(hit['passage']['text'], _EXCERPT)}"
    if item["more"]:
        yield f"         {item['more']:,} more in this session: --session {session['key']}"
    yield ""
