"""`recall`: what earlier sessions say to a question."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import one_line, score, shortened, tombstone
from timemachine.cli.group import OneEach
from timemachine.cli.terminal import show
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted, spaced

_EXCERPT: Final = 140
_NAMED: Final = 5
_RELATIONS: Final = {"before": "the time before ", "after": "the time after "}
_ZONES: Final = "/zoneinfo/"


@click.command(cls=OneEach)
@click.option(
    "--query",
    "queries",
    multiple=True,
    required=True,
    metavar="Q",
    help="A question; several are each answered.",
)
@click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), help="How to look for turns.")
@click.option("--agent", metavar="AGENT", help="Only turns of this agent.")
@click.option("--user", metavar="USER", help="Only sessions of this user.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Only turns with this tag, or of sessions with it; of several one.",
)
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only turns of this kind; of several one."
)
@click.option(
    "--significance",
    "significances",
    multiple=True,
    metavar="S",
    help="Only turns of this significance; of several one.",
)
@click.option(
    "--min-importance",
    type=options.ShareType(),
    metavar="X",
    help="Only turns of at least that importance.",
)
@click.option("--since", metavar="WHEN", help="Only turns from then on: RFC 3339, or a date.")
@click.option("--until", metavar="WHEN", help="Only turns until then: RFC 3339, or a date.")
@click.option("--session", metavar="ID", help="Only turns of this session (its id or key).")
@click.option(
    "--besides",
    metavar="ID",
    help="The session that asks: nothing of it, and the last session is the one before it.",
)
@click.option(
    "--time-words/--no-time-words", default=True, help="Whether words of time in a question are read."
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="Of words of time, as Europe/Berlin; this machine's where it can be told.",
)
@click.option(
    "--around", type=click.IntRange(0, 20), metavar="N", help="So many turns before and behind each."
)
@click.option(
    "--limit", type=click.IntRange(1, 50), metavar="N", help="How many turns at most for each question."
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="N", help="Print a text for a prompt, of at most N tokens."
)
@options.as_json
def recall(*, queries: Sequence[str], time_zone: str | None, as_json: bool, **asked: Any) -> None:
    """Recall what earlier sessions say to a question, asked in plain words.

    Words of time in it ("last Tuesday", "in May", "last session") say which turns are looked at, and it is said how they were read.
    """
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    with connected() as client:
        found = client.recall(*queries, time_zone=time_zone or zone_here(), **given)
        show(found, _text(found) if asked["budget"] else _lines(found), as_json=as_json)


def zone_here(link: Path = Path("/etc/localtime")) -> str | None:
    """The name of this machine's time zone; None where it cannot be told."""
    _, found, name = str(link.resolve()).rpartition(_ZONES)
    return name if found else None


def _text(found: dict[str, Any]) -> Iterator[str]:
    if found["text"]:
        yield found["text"]
    elif least := found["tokens"]["least"]:
        turns = counted(sum(len(item["results"]) for item in found["items"]), "turn")
        budget = counted(found["tokens"]["budget"], "token")
        yield f"{turns} found, and none fits into {budget}: the shortest takes {least:,}, with what names its session. Give --budget {least} or more."
    else:
        nothing = " ".join(one_line(item["nothing"]) for item in found["items"] if item["nothing"])
        yield f"Nothing was found. {nothing}".strip()


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if found["no_embeddings"]:
        yield f"Nothing was compared by its meaning: {one_line(found['no_embeddings'])}"
    for item in found["items"]:
        if len(found["items"]) > 1:
            yield f"“{shortened(item['query'], 100)}”"
        yield from _read(item)
        for result in item["results"]:
            yield from _result(result)
        if not item["results"]:
            yield f"Nothing was found. {one_line(item['nothing'])}"
        yield ""
    if found["not_indexed"]:
        yield f"{counted(found['not_indexed'], 'step')} still being indexed, which no recall finds yet."


def _read(item: dict[str, Any]) -> Iterator[str]:
    """How the words of time were read, and what was looked for."""
    for time in item["times"]:
        yield f"“{one_line(time['words'])}” is read as {_span(time)}; --no-time-words reads no times."
    for unread in item["unread"]:
        yield f"“{one_line(unread['words'])}” is not read as a time: {unread['why']}. It is looked for as words."
    if not item["looked_for"] and item["results"]:
        yield "The question names nothing to look for; the most important turns are told."


def _span(time: dict[str, Any]) -> str:
    if time["previous_session"]:
        named = [f"{one_line(session['name'])} ({session['key']})" for session in time["sessions"]]
        if not named:
            return "the session before, and there is none"
        more = f" and {len(named) - _NAMED:,} more" if named[_NAMED:] else ""
        return f"{_RELATIONS.get(time['relation'], '')}the session{'s' if len(named) > 1 else ''} {', '.join(named[:_NAMED])}{more}"
    begin, until = (time[end] and local(time[end]) for end in ("from", "until"))
    if begin and until:
        return f"{begin} to {until}"
    return f"from {begin} on" if begin else f"before {until}"


def _said(turn: dict[str, Any]) -> str:
    """What a turn said, else what it was given, as it is written in JSON where it is no text; of one that was deleted that it was."""
    if deleted := turn.get("deleted"):
        return f"[{tombstone(deleted)}]"
    said = turn["output"] if turn["output"] is not None else turn["input"]
    if said is None or isinstance(said, str):
        return said or ""
    return json.dumps(said, ensure_ascii=False)


def _result(result: dict[str, Any]) -> Iterator[str]:
    session = result["session"]
    scores = ", ".join(f"{name} {score(value)}" for name, value in result["scores"].items())
    weight = "" if result["significance"] in {None, "normal"} else f"{result['significance']}, "
    at = local(result["at"]) if result["at"] else ""
    yield f"{one_line(session['name'])}  {session['key']}  step {result['sequence']:,}  {at}"
    worth = "no importance" if result["importance"] is None else f"importance {result['importance']:g}"
    why = f"({weight}{scores or worth})"
    yield f"         {spaced(result['kind'])}  {shortened(result['label'], 60)}  {why}"
    if result["passage"] and "around" not in result:
        yield f"         {result['passage']['in']}: {shortened(result['passage']['text'], _EXCERPT)}"
    for turn in result.get("around", {"items": ()})["items"]:
        if turn["left_out_before"]:
            yield f"         … {counted(turn['left_out_before'], 'turn')} left out"
        yield f"{turn['sequence']:>7,}  {turn['role'] or spaced(turn['kind'])}: {shortened(_said(turn), _EXCERPT)}"
    if result.get("around", {}).get("left_out_after"):
        yield f"         … {counted(result['around']['left_out_after'], 'turn')} left out"
