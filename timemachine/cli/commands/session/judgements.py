"""`session judge`: the verdict of a judge model on a recorded answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure, Interrupted
from timemachine.cli.formatting import duration, frame_name, tokens, visible
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import announce, checked_when_shown, show, wants_json
from timemachine.core.pure.numbers import counted, money_or_unknown, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.argument("sequence", type=click.IntRange(min=1), metavar="SEQUENCE")
@click.option("--model", required=True, metavar="M", help="The judge model, as provider:model.")
@options.as_json
def judge(*, session: str, sequence: int, model: str) -> None:
    """Let a judge model check a recorded answer.

    It checks for each sentence whether the recorded passages support it. The session does not change. Ctrl-C cancels it.
    """
    client = connected()
    about = client.judgements.estimate(session, sequence, model=model)
    if not wants_json():
        announce(
            f"Asking {about['model']}: about {money_or_unknown(about['cost_usd'])}, by {about['basis']}."
        )
    try:
        made = client.judgements.make(session, sequence, model=model)
    except KeyboardInterrupt as why:
        client.judgements.cancel(session, sequence, model=about["model"])
        raise Interrupted(
            "The judgement was cancelled. A call that had started may have been billed."
        ) from why
    with checked_when_shown(lambda: _check(made)):
        show(made, _lines(made))


def _check(made: types.JudgementOut) -> None:
    if made["state"] != "done":
        raise Failure(visible((made["error"] and made["error"]["message"]) or made["state"]))


def _lines(made: types.JudgementOut) -> Iterator[str]:
    if made["state"] == "done":
        for sentence in made["sentences"]:
            yield from _sentence(sentence)
        yield ""
    counts = made["verdicts"]
    verdicts = ", ".join(
        f"{counts[name]:,} {spaced(name)}"
        for name in ("supported", "contradicted", "not_found", "quote_not_found")
        if counts[name] or name != "quote_not_found"
    )
    yield from facts(
        [
            ("judge model", made["model"]),
            ("verdicts", verdicts if made["state"] == "done" else ""),
            ("grounding", _disagreement(counts["disagree"]) if made["state"] == "done" else ""),
            ("tokens", tokens(made["usage"])),
            ("cost", money_or_unknown(made["cost_usd"])),
            ("took", duration(made["duration_ms"])),
        ]
    )


def _disagreement(number: int) -> str:
    return f"differs in {counted(number, 'sentence')}" if number else "same for every sentence"


def _sentence(sentence: types.JudgedSentenceOut) -> Iterator[str]:
    grounded = "supported" if sentence["grounded"] else "not supported"
    differs = f"  (grounding: {grounded})" if sentence["agrees"] is False else ""
    verdict = spaced(sentence["counted_as"] or "")
    yield visible(f"{sentence['number']:>3}  {verdict:<15}  {sentence['text']}{differs}")
    if sentence["quote"] is not None:
        yield visible(f"     {_place(sentence)}: {sentence['quote']}")


def _place(sentence: types.JudgedSentenceOut) -> str:
    named, found = sentence["passage"], sentence["quote_in"]
    where = (
        "no passage named"
        if named is None
        else f"passage {named}, {frame_name(sentence['frame'], rank=named)}"
    )
    if found is None:
        changed = sentence["counted_as"] != sentence["verdict"]
        verdict = f"judge model: {spaced(sentence['verdict'] or '')}; " if changed else ""
        return f"{verdict}quote not found in the passages ({where})"
    return where if found == named else f"quote found in passage {found} ({where})"
