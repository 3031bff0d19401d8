"""`session where` and `session sweep`: the rank of a frame at every find and ask, and a grid of retrieval settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import one_line, shortened
from timemachine.cli.output.table import table
from timemachine.cli.terminal import checked_when_shown, show, waiting
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

_HEADS = ["#", "mode", "top-k", "cut-off", "recall", "overlap", "rank-biased", "hits", "tokens/step"]


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--frame", type=int, metavar="N", help="Number of the frame.")
@click.option(
    "--text",
    metavar="SENTENCE",
    help="A sentence of the frame; without an exact match, the most similar frames are shown.",
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
    show(found | {"next": None}, _rank_lines(found))


def _rank_lines(found: types.RankPageOut) -> Iterator[str]:
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


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(["hybrid", "semantic", "lexical"]),
    help="A mode to try; repeat for several (default: all three).",
)
@click.option(
    "--top-k",
    multiple=True,
    type=int,
    metavar="N",
    help="A top-k to try; repeat for several (default: 4, 8 and 16).",
)
@click.option("--adaptive", is_flag=True, help="Try the adaptive cut-off (default: with and without).")
@click.option("--not-adaptive", is_flag=True, help="Try without the adaptive cut-off.")
@click.option(
    "--embedding-model",
    "embedding_models",
    multiple=True,
    metavar="M",
    help="An embedding model to try; repeat for several (default: the collection's model).",
)
@options.as_of
@options.as_json
def sweep(
    *, session: str, adaptive: bool, not_adaptive: bool, as_of: str | None, **lists: tuple[Any, ...]
) -> None:
    """Measure every combination of retrieval settings.

    Measures at every find and ask of the session: the recall of the frames that support the answers, the overlap with the recorded
    hits, and the tokens of the passages. No language model is called.
    """
    grid = {name: list(values) or None for name, values in lists.items()}
    client = connected()
    cut_offs = [value for value, chosen in ((False, not_adaptive), (True, adaptive)) if chosen]
    launched = client.sweeps.launch(session, **grid, adaptive=cut_offs or None, as_of=as_of)["sweep_id"]
    with waiting(f"The sweep is still running. Follow it at {client.url}/sweeps/{launched}/") as progress:
        done = client.sweeps.wait(launched, lambda found: progress.update(_progress(found)))
    with checked_when_shown(lambda: _check(done)):
        show(done, _sweep_lines(done, client.url))


def _check(done: types.SweepOut) -> None:
    if done["status"] != "done":
        raise Failure(f"The sweep is {done['status']}. See its page for the results so far.")


def _progress(found: types.SweepOut) -> str:
    settings = found["settings"]
    return f"{found['status']}: {settings['finished']:,} of {counted(settings['total'], 'setting')}"


def _sweep_lines(done: types.SweepOut, url: str) -> Iterator[str]:
    right = [head for head in _HEADS if head not in {"mode", "cut-off"}]
    yield from table(_HEADS, [_row(row) for row in done["rows"]], right=right)
    yield f"Sweep {done['id']} is {done['status']}: {counted(done['steps'], 'step')}; tokens by {done['tokenizer']}."
    yield f"{url}/sweeps/{done['id']}/"


def _row(row: types.SweepRowOut) -> list[str]:
    found = row["result"]
    cut = "adaptive" if row["adaptive"] else "exactly top-k"
    setting = [str(row["number"]), row["mode"], str(row["top_k"]), cut]
    if found is None:
        return [*setting, row["status"], row["error"] or "", "", "", ""]
    shares = [_share(found[name]) for name in ("recall", "overlap", "rank_biased_overlap")]
    tokens = UNKNOWN if found["tokens_per_step"] is None else f"{found['tokens_per_step']:,.0f}"
    return [*setting, *shares, f"{found['hits']:,}", tokens]


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.2f}"
