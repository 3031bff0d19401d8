"""`session where`: the rank of a frame at every find and ask of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.formatting import one_line, shortened
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import NOT_RECORDED

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--frame", type=int, metavar="N", help="Number of the frame.")
@click.option(
    "--text",
    metavar="SENTENCE",
    help="A sentence of the frame; without an exact match, the most similar frames.",
)
@options.as_json
def where(*, session: str, frame: int | None, text: str | None) -> None:
    """Find the rank of a frame.

    At every find and ask of the session, in every mode, as recorded and now.
    """
    client = connected()
    found = client.replays.where(session, frame=frame, text=text)
    after = found["next"]
    while after is not None:
        more = client.replays.where(session, frame=frame, text=text, after=after)
        found["items"] += more["items"]
        after = more["next"]
    show(found | {"next": None}, _lines(found))


def _lines(found: types.RankPageOut) -> Iterator[str]:
    if not found["frames"]:
        yield "No frame contains this sentence or a similar one."
    for each in found["frames"]:
        yield f"#{each['frame']} {one_line(each['title'] or 'untitled')} ({each['says']})"
    for step in found["items"]:
        query = shortened(one_line(step["query"] or NOT_RECORDED), 60)
        yield f"Step {step['sequence']:,} · {step['kind']} · {_how(step)} · {query}"
        if step["error"]:
            yield f"  {one_line(step['error'])}"
        for ranks in step["frames"]:
            yield f"  #{ranks['frame']} {ranks['says']}"
            yield f"    as recorded  {_ranks(ranks['as_recorded'], ranks['says'])}"
            yield f"    as it is now {_ranks(ranks['as_now'], 'deleted')}"


def _how(step: types.StepRanksOut) -> str:
    mode, top_k = step["mode"] or f"mode {NOT_RECORDED}", step["top_k"]
    number = f"top-k {NOT_RECORDED}" if top_k is None else f"top {top_k}"
    return ", ".join([mode, number, *(["adaptive"] if step["adaptive"] else [])])


def _ranks(ranks: types.FrameStanding | None, absent: str) -> str:
    if ranks is None:
        return absent
    places = ("hybrid", ranks["hybrid"]), ("semantic", ranks["semantic"]), ("lexical", ranks["lexical"])
    return ", ".join(f"{mode} {_place(place)}" for mode, place in places)


def _place(place: types.FrameRankInMode) -> str:
    if place["rank"] is None:
        return "not ranked"
    cuts = (("top-k", place["by_top_k"]), ("adaptive", place["by_adaptive"]))
    found = [name for name, is_found in cuts if is_found]
    return f"{place['rank']:,} of {place['of']:,}" + (f" ({', '.join(found)})" if found else "")
