"""`find`, `ask` and `ground`: search a collection, ask a model over it, and check answers against their context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Interrupted
from timemachine.cli.formatting import (
    cut_off_rule,
    duration,
    frame_name,
    local,
    one_line,
    score,
    shortened,
    tokens,
)
from timemachine.cli.output.grounding import (
    MOST_ANSWERS,
    MOST_CHARACTERS,
    answer_and_context,
    characters,
    grounding_summary,
    number_of_warnings,
    warning,
)
from timemachine.cli.output.table import aligned, facts, width
from timemachine.cli.recorded_in import recorded_in
from timemachine.cli.source import Line, batches, read_lines
from timemachine.cli.terminal import Progress, is_terminal, print_error, print_lines, show, wants_json, write
from timemachine.core.pure.finish_reasons import ended_in_words
from timemachine.core.pure.numbers import counted, money_or_unknown

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

_EXCERPT: Final = 100
_INDENT: Final = " " * 5
_MOST_WORDS: Final = 12
_RETRIEVERS: Final = ("lexical", "semantic", "identifier")
_NO_SCORE: Final = "–"
_EMPTY = "The model returned an empty answer."


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--query", required=True, metavar="Q", help="What to search for.")
@options.search_options
@click.option(
    "--as-of",
    metavar="WHEN",
    help="Search the collection as it was at a time (UTC by default), at the end of a date, now, or at SESSION:SEQUENCE.",
)
@options.session_to_record_in
@options.as_json
def find(*, collection: str, session: str | None, no_session: bool, **asked: Any) -> None:
    """Find passages in a collection."""
    client = connected()
    found, recording = recorded_in(
        lambda session: client.collections.find(collection, session=session, **asked),
        client,
        collection,
        session,
        no_session=no_session,
    )
    show(found, hit_lines(collection, found, recording))


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--question", required=True, metavar="Q", help="The question.")
@options.use_model
@options.search_options
@click.option("--no-cache", is_flag=True, help="Ask the model even if the answer is in the cache.")
@options.session_to_record_in
@options.as_json
def ask(*, collection: str, session: str | None, no_session: bool, **asked: Any) -> None:
    """Find passages and ask a model over them.

    On a terminal the answer appears while the model writes it. Ctrl-C cancels the ask.
    """
    client = connected()
    at_once = wants_json() or not is_terminal()
    ask_model = client.collections.ask if at_once else partial(_ask_streaming, client)
    answer, recording = recorded_in(
        lambda session: ask_model(collection, session=session, **asked),
        client,
        collection,
        session,
        no_session=no_session,
    )
    if at_once:
        show(answer, _answer_lines(answer, recording))
    else:
        print_lines(_answer_facts(answer, recording))


@click.command(cls=OneEach)
@click.argument("file", metavar="FILE.jsonl")
@options.as_json
def ground(*, file: str) -> None:
    """Check answers against their context.

    Shows for each sentence whether a passage supports it. Each line of the file is {"context": ["…", …], "answer": "…"}.
    """
    lines = read_lines(file)
    questions = [answer_and_context(line) for line in lines]
    groundings: list[types.GroundingOut] = []
    client = connected()
    with Progress() as progress:
        for batch in batches(questions, characters, most=MOST_ANSWERS, largest=MOST_CHARACTERS):
            groundings.extend(client.ground_all(batch))
            progress.update(f"{len(groundings):,} of {counted(len(questions), 'answer')} grounded")
    document = {"items": groundings, "next": None}
    show(document, _ground_lines(lines, questions, groundings))


def _ask_streaming(client: Client, collection: str, **question_fields: Any) -> types.AskOut:
    """The answer, also written to the terminal while it arrives."""
    begun: list[str] = []
    try:
        answer = client.collections.ask(
            collection, on_text=write, on_begun=begun.append, on_wait=print_error, **question_fields
        )
    except KeyboardInterrupt as why:
        for ask_id in begun:
            client.asks.cancel(ask_id)
        raise Interrupted("The ask was cancelled. A call that had started may have been billed.") from why
    write("\n\n" if (answer["answer"] or "").strip() else f"{_EMPTY}\n\n")
    return answer


def _answer_lines(answer: types.AskOut, session: str | None) -> Iterator[str]:
    text = answer["answer"] or ""
    yield text if text.strip() else _EMPTY
    yield ""
    yield from _answer_facts(answer, session)


def _answer_facts(answer: types.AskOut, session: str | None) -> Iterator[str]:
    ended = ended_in_words(answer["finish_reason"])
    if ended:
        yield ended
    yield from facts(
        [
            ("model", answer["model"]),
            ("tokens", "" if answer["cached"] else tokens(answer["usage"])),
            ("cost", money_or_unknown(answer["cost_usd"]) + _saving(answer)),
            ("grounding", grounding_summary(answer["grounding"])),
            ("passages", ", ".join(frame_name(hit["frame"]) for hit in answer["hits"]) or "none found"),
            (
                "recorded",
                "" if answer["sequence"] is None else f"as step {answer['sequence']:,} of {session}",
            ),
        ]
    )
    yield from unembedded_lines(answer)
    yield from warning(answer["grounding"], {hit["frame"]: hit["text"] for hit in answer["hits"]})


def _saving(answer: types.AskOut) -> str:
    """What the cache saved and where the answer came from; empty for a new answer."""
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
    return f", from the cache, {saved} (first asked {place}, {local(first['at'])})"


def _ground_lines(
    lines: list[Line], questions: list[types.AnswerIn], groundings: list[types.GroundingOut]
) -> Iterator[str]:
    for line, each, grounding in zip(lines, questions, groundings, strict=True):
        yield f"line {line.number:,}: {grounding_summary(grounding)}"
        yield from warning(grounding, dict(enumerate(each["context"])))
    yield f"{counted(len(groundings), 'answer')}, {number_of_warnings(groundings):,} with a warning."


def hit_lines(collection: str, found: types.FindOut, session: str | None) -> Iterator[str]:
    """The passages and why each matched, then how the search ran; or why nothing matched."""
    yield from unembedded_lines(found)
    if found["hits"]:
        yield from _hits(found["hits"], found["mode"])
        yield f"{counted(len(found['hits']), 'passage')} by {found['mode']} search, {cut_off_rule(found['cut_by'])}."
    else:
        yield from _empty(collection, found)
    if found["sequence"] is not None:
        yield f"Recorded as step {found['sequence']:,} of {session}."


def unembedded_lines(found: types.FindOut | types.AskOut) -> Iterator[str]:
    """How many frames have no vector, if any."""
    if found["not_embedded"]:
        yield f"{counted(found['not_embedded'], 'frame')} had no vector and could be found by keyword only."


def _empty(collection: str, found: types.FindOut) -> Iterator[str]:
    rule = "" if found["cut_by"] in (None, "all") else f", {cut_off_rule(found['cut_by'])}"
    yield f"No results in {one_line(collection)} by {found['mode']} search{rule}."
    why = found["empty"]
    if why is not None and why["why"] == "no_frames_then":
        yield f"The collection was empty at that time. Its first frame was added at {local(why['first_frame_at'])}."
    elif why is not None:
        yield one_line(why["message"])


def _hits(hits: Sequence[types.FrameHitOut], mode: str) -> Iterator[str]:
    widths = _score_widths(hits)
    reasons = [_why(hit, mode, widths) for hit in hits]
    longest = max(width(name) for pairs in reasons for name, _ in pairs)
    for hit, pairs in zip(hits, reasons, strict=True):
        title = f"  {one_line(hit['title'])}" if hit["title"] else ""
        yield f"{hit['rank']:>3}  {score(hit['score'])}  {frame_name(hit['frame'])} version {hit['version']}{title}"
        yield f"{_INDENT}{shortened(hit['text'], _EXCERPT)}"
        for name, value in pairs:
            yield f"{_INDENT}{aligned(name, longest)}  {value}"


def _score_widths(hits: Sequence[types.FrameHitOut]) -> dict[str, int]:
    """The retrievers that scored any passage, each with the width of its widest score."""
    scores = {
        name: [score(hit["scores"][name]) for hit in hits if name in hit["scores"]] for name in _RETRIEVERS
    }
    return {name: max(map(len, shown)) for name, shown in scores.items() if shown}


def _why(hit: types.FrameHitOut, mode: str, widths: dict[str, int]) -> list[tuple[str, str]]:
    matched = hit["matched"] or {}
    words = _parts(matched.get("terms", {}))
    if not matched and mode == "hybrid" and "lexical" not in hit["scores"]:
        words = "none in common; found by meaning"
    pairs = [
        ("scores", _scores(hit["scores"], widths)),
        ("words", words),
        ("identifiers", _parts(matched.get("identifiers", {}))),
    ]
    return [(name, value) for name, value in pairs if value]


def _scores(scores: dict[str, float], widths: dict[str, int]) -> str:
    """The score of each retriever, aligned with those of the other passages."""
    cells = [
        f"{name} {(score(scores[name]) if name in scores else _NO_SCORE):>{size}}"
        for name, size in widths.items()
    ]
    return "  ".join(cells)


def _parts(parts: dict[str, float]) -> str:
    """Words or identifiers with their parts of the score, the largest first."""
    shown = [f"{one_line(name)} {score(part)}" for name, part in list(parts.items())[:_MOST_WORDS]]
    more = [f"… and {len(parts) - _MOST_WORDS:,} more"] if len(parts) > _MOST_WORDS else []
    return ", ".join(shown + more)
