"""`recall` and `search`: what earlier sessions say about a question, and steps by their text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach, suggest_next_page
from timemachine.cli.connection import connected
from timemachine.cli.formatting import json_or_text, listed_scores, local, one_line, shortened, tombstone
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types

_EXCERPT: Final = 140
_NAMED: Final = 5
_RELATIONS: Final = {"before": "the time before ", "after": "the time after "}
_ZONES: Final = "/zoneinfo/"
_any_of = partial(options.several, of="any of several")
mode = click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), help="How to search.")


@click.command(cls=OneEach)
@options.several("--query", "queries", required=True, metavar="Q", help="A question")
@mode
@click.option("--agent", metavar="AGENT", help="Only steps of this agent.")
@click.option("--user", metavar="USER", help="Only sessions of this user.")
@_any_of("--tag", "tags", metavar="TAG", help="Only steps or sessions with this tag")
@_any_of("--kind", "kinds", metavar="KIND", help="Only steps of this kind")
@_any_of("--significance", "significances", metavar="S", help="Only steps with this significance")
@options.min_importance
@click.option("--since", metavar="WHEN", help="Only steps at or after this time (RFC 3339) or date.")
@click.option("--until", metavar="WHEN", help="Only steps at or before this time (RFC 3339) or date.")
@click.option("--session", metavar="ID", help="Only steps of this session (its ID or key).")
@click.option(
    "--besides",
    metavar="ID",
    help='The current session: it is left out, and "last session" means the one before it.',
)
@click.option(
    "--time-words/--no-time-words",
    default=True,
    help="Whether time expressions in a question narrow the search.",
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="Time zone of time expressions, for example Europe/Berlin (default: this machine's).",
)
@click.option(
    "--around",
    type=click.IntRange(0, 20),
    metavar="N",
    help="Number of steps to show before and after each result.",
)
@click.option(
    "--limit",
    "--top-k",
    "limit",
    type=click.IntRange(1, 50),
    metavar="N",
    help="Maximum number of steps for each question.",
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="N", help="Print text for a prompt, at most N tokens."
)
@options.as_json
def recall(*, queries: Sequence[str], time_zone: str | None, **filters: Any) -> None:
    """Ask earlier sessions a question in plain words.

    Time expressions ("last Tuesday", "in May", "last session") narrow the search. The output shows how they were understood.
    """
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in filters.items()}
    found = connected().recall(*queries, time_zone=time_zone or local_zone(), **given)
    show(found, _text(found) if filters["budget"] else _lines(found))


def local_zone(link: Path = Path("/etc/localtime")) -> str | None:
    """The name of this machine's time zone; None if it is unknown."""
    _, found, name = str(link.resolve()).rpartition(_ZONES)
    return name if found else None


def _text(found: types.RecallOut) -> Iterator[str]:
    if found["text"]:
        yield found["text"]
    elif least := found["tokens"]["least"]:
        turns = counted(sum(len(item["results"]) for item in found["items"]), "turn")
        budget = counted(found["tokens"]["budget"], "token")
        yield f"{turns} found, but none fits in {budget}. Use --budget {least} or more: the shortest takes {least:,} with the name of its session."
    else:
        nothing = " ".join(one_line(item["nothing"]) for item in found["items"] if item["nothing"])
        yield f"No results. {nothing}".strip()


def _lines(found: types.RecallOut) -> Iterator[str]:
    if found["no_embeddings"]:
        yield f"Searched by keyword only: {one_line(found['no_embeddings'])}"
    for item in found["items"]:
        if len(found["items"]) > 1:
            yield f"“{shortened(item['query'], 100)}”"
        yield from _read(item)
        for result in item["results"]:
            yield from _result(result)
        if not item["results"]:
            yield f"No results. {one_line(item['nothing'] or '')}"
        yield ""
    if found["not_indexed"]:
        yield f"{counted(found['not_indexed'], 'step')} waiting to be indexed. Try again in a moment."


def _read(item: types.QueryRecalled) -> Iterator[str]:
    """How time expressions were understood, and what was searched for."""
    for time in item["times"]:
        yield f"“{one_line(time['words'])}” is understood as {_span(time)}. Use --no-time-words to turn this off."
    for unread in item["unread"]:
        yield f"“{one_line(unread['words'])}” is not understood as a time ({unread['why']}); searched as words."
    if not item["looked_for"] and item["results"]:
        yield "No search terms: showing the most important steps."


def _span(time: types.TimeReadOut) -> str:
    if time["previous_session"]:
        named = [f"{one_line(session['name'])} ({session['key']})" for session in time["sessions"]]
        if not named:
            return "the previous session, but none was found"
        more = f" and {len(named) - _NAMED:,} more" if named[_NAMED:] else ""
        return f"{_RELATIONS.get(time['relation'], '')}the session{'s' if len(named) > 1 else ''} {', '.join(named[:_NAMED])}{more}"
    begin, until = (time[end] and local(time[end]) for end in ("from", "until"))
    if begin and until:
        return f"{begin} to {until}"
    return f"since {begin}" if begin else f"before {until}"


def _text_of(turn: types.TurnAround) -> str:
    """The output of a turn, else its input, as JSON if it is not text; the tombstone of a deleted turn."""
    if deleted := turn.get("deleted"):
        return f"[{tombstone(deleted)}]"
    value = turn["output"] if turn["output"] is not None else turn["input"]
    return "" if value is None else json_or_text(value)


def _result(result: types.TurnRecalled) -> Iterator[str]:
    session = result["session"]
    scores = listed_scores(result["scores"])
    significance = "" if result["significance"] in {None, "normal"} else f"{result['significance']}, "
    at = local(result["at"]) if result["at"] else ""
    yield f"{one_line(session['name'])}  {session['key']}  step {result['sequence']:,}  {at}"
    importance = "no importance" if result["importance"] is None else f"importance {result['importance']:g}"
    why = f"({significance}{scores or importance})"
    yield f"         {spaced(result['kind'])}  {shortened(result['label'], 60)}  {why}"
    if result["passage"] and "around" not in result:
        yield f"         {result['passage']['in']}: {shortened(result['passage']['text'], _EXCERPT)}"
    for turn in result.get("around", {"items": ()})["items"]:
        if turn["left_out_before"]:
            yield f"         … {counted(turn['left_out_before'], 'step')} left out"
        yield f"{turn['sequence']:>7,}  {turn['role'] or spaced(turn['kind'])}: {shortened(_text_of(turn), _EXCERPT)}"
    if result.get("around", {}).get("left_out_after"):
        yield f"         … {counted(result['around']['left_out_after'], 'step')} left out"


@click.command(cls=OneEach)
@click.option("--query", required=True, metavar="Q", help='Words, "phrases", -not, or.')
@mode
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
@click.option("--session", metavar="ID", help="Only steps of this session (its ID or key).")
@click.option("--limit", type=int, metavar="N", help="Maximum number of sessions, up to 200.")
@options.after
@options.as_json
def search(*, query: str, **filters: Any) -> None:
    """Search names, keys and tags of sessions, and labels, tools, tags, errors, inputs and outputs of steps."""
    found = connected().search(query, **filters)
    show(found, _search_lines(found))


def _search_lines(found: types.SearchPage) -> Iterator[str]:
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
    named = f"  (found by its {', '.join(item['named'])})" if item["named"] else ""
    yield f"{one_line(session['name'])}  {session['key']}{named}"
    for hit in item["hits"]:
        scores = listed_scores(hit["scores"])
        failed = "error: " if hit["failed"] else ""
        yield f"{hit['sequence']:>7,}  {spaced(hit['kind'])}  {failed}{shortened(hit['label'], 60)}  ({scores})"
        if hit["passage"]:
            yield f"         {hit['passage']['in']}: {shortened(hit['passage']['text'], _EXCERPT)}"
    if item["more"]:
        yield f"         {item['more']:,} more in this session: --session {session['key']}"
    yield ""
