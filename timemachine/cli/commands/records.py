"""`find`, `ask` and `ground`: what is done with a collection, and with an answer."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Interrupted
from timemachine.cli.formatting import duration, frame_name, tokens
from timemachine.cli.group import OneEach
from timemachine.cli.output.grounding import (
    answer_and_context,
    in_short,
    number_of_warnings,
    requests,
    warning,
)
from timemachine.cli.output.hits import found_lines, lacking
from timemachine.cli.output.table import facts
from timemachine.cli.source import Line, read_lines
from timemachine.cli.terminal import Progress, complain, is_terminal, say_all, show, write
from timemachine.cli.times import local
from timemachine.core.pure.finish_reasons import ended_in_words
from timemachine.core.pure.numbers import counted, money_or_unknown

if TYPE_CHECKING:
    from timemachine.client.client import Client

_EMPTY = "The model answered with an empty text."


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--query", required=True, metavar="Q", help="What to look for.")
@options.top_k
@options.mode
@options.embedding_model
@options.adaptive
@options.relative
@options.cliff
@options.min_score
@click.option(
    "--as-of",
    metavar="WHEN",
    help="The collection as it was: a time (in UTC, unless it says otherwise), a date (its end), now, or SESSION:SEQUENCE.",
)
@options.recorded_in
@options.as_json
def find(*, collection: str, adaptive: bool, as_json: bool, **asked: Any) -> None:
    """Find passages in a collection."""
    with connected() as client:
        found = client.collections.find(collection, adaptive=adaptive or None, **asked)
        show(found, found_lines(collection, found), as_json=as_json)


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--question", required=True, metavar="Q", help="What to answer.")
@options.use_model
@options.top_k
@options.mode
@options.embedding_model
@options.adaptive
@options.relative
@options.cliff
@options.min_score
@click.option("--no-cache", is_flag=True, help="Ask the model again, even where the answer is in the cache.")
@options.recorded_in
@options.as_json
def ask(*, collection: str, adaptive: bool, no_cache: bool, as_json: bool, **asked: Any) -> None:
    """Find passages and ask a model over them.

    On a terminal the answer appears as it is written, and Ctrl-C cancels the ask.
    """
    asked |= {"adaptive": adaptive or None, "no_cache": no_cache or None}
    with connected() as client:
        if as_json or not is_terminal():
            answer = client.collections.ask(collection, **asked)
            show(answer, _answer_lines(answer), as_json=as_json)
        else:
            say_all(_answer_facts(_asked_aloud(client, collection, **asked)))


@click.command(cls=OneEach)
@click.argument("file", metavar="FILE.jsonl")
@options.as_json
def ground(*, file: str, as_json: bool) -> None:
    """Ground answers in their contexts.

    It says how far each answer is supported, sentence by sentence. Each line of the file is {"context": ["…", …], "answer": "…"}.
    """
    lines = read_lines(file)
    asked = [answer_and_context(line) for line in lines]
    groundings: list[dict[str, Any]] = []
    with connected() as client, Progress() as progress:
        for batch in requests(asked):
            groundings.extend(client.ground_all(batch))
            progress.tell(f"{len(groundings):,} of {counted(len(asked), 'answer')} grounded")
    document = {"items": groundings, "next": None}
    show(document, _ground_lines(lines, asked, groundings), as_json=as_json)


def _asked_aloud(client: "Client", collection: str, **asked: Any) -> dict[str, Any]:
    """The answer, written to the terminal as it comes."""
    begun: list[str] = []
    try:
        answer = client.collections.ask(
            collection, on_text=write, on_begun=begun.append, on_wait=complain, **asked
        )
    except KeyboardInterrupt as why:
        for ask_id in begun:
            client.asks.cancel(ask_id)
        raise Interrupted("The ask was cancelled; what its model had begun may have been billed.") from why
    write("\n\n" if answer["answer"].strip() else f"{_EMPTY}\n\n")
    return answer


def _answer_lines(answer: dict[str, Any]) -> Iterator[str]:
    yield answer["answer"] if answer["answer"].strip() else _EMPTY
    yield ""
    yield from _answer_facts(answer)


def _answer_facts(answer: dict[str, Any]) -> Iterator[str]:
    ended = ended_in_words(answer["finish_reason"])
    if ended:
        yield ended
    yield from facts(
        [
            ("model", answer["model"]),
            ("tokens", "" if answer["cached"] else tokens(answer["usage"])),
            ("cost", money_or_unknown(answer["cost_usd"]) + _saving(answer)),
            ("grounding", in_short(answer["grounding"])),
            ("passages", ", ".join(frame_name(hit["frame"]) for hit in answer["hits"]) or "none found"),
            ("recorded", "" if answer["sequence"] is None else f"as step {answer['sequence']:,}"),
        ]
    )
    yield from lacking(answer)
    yield from warning(answer["grounding"], {hit["frame"]: hit["text"] for hit in answer["hits"]})


def _saving(answer: dict[str, Any]) -> str:
    """What the cache saved, and which ask it was first; empty for a fresh answer."""
    first = answer["cached_from"]
    if not answer["cached"] or first is None:
        return ""
    place = (
        "outside a session"
        if first["session"] is None
        else f"at step {first['sequence']:,} of {first['session']}"
    )
    dollars = "an unknown cost" if answer["saved_usd"] is None else money_or_unknown(answer["saved_usd"])
    saved = f"saved {dollars} and {duration(first['call_ms'])}"
    return f", from the cache, {saved} (asked first {place}, {local(first['at'])})"


def _ground_lines(
    lines: list[Line], asked: list[dict[str, Any]], groundings: list[dict[str, Any]]
) -> Iterator[str]:
    for line, each, grounding in zip(lines, asked, groundings, strict=True):
        yield f"line {line.number:,}: {in_short(grounding)}"
        yield from warning(grounding, dict(enumerate(each["context"])))
    yield f"{counted(len(groundings), 'answer')}, {number_of_warnings(groundings):,} with a warning."
