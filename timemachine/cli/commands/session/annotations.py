"""`session weigh`, `proposals`, `compress`, `summarise`, `note` and `notes`: what people add to a session without changing the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach, suggest_next_page
from timemachine.cli.connection import connected
from timemachine.cli.formatting import local, one_line, visible
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import print_error, show
from timemachine.core.pure.numbers import NOT_RECORDED, counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

RECORDED = "recorded"
OFF = "off"
_UNDONE: Final = "Compression undone. Every step has its earlier importance again."


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option("--step", type=click.IntRange(1), required=True, metavar="N", help="The step.")
@click.option(
    "--significance",
    metavar="WORD",
    help="decision, solution, breakthrough …; `recorded` restores the recorded one.",
)
@click.option("--importance", metavar="X", help="From 0 to 1; `recorded` restores the recorded one.")
@options.as_json
def weigh(*, target: str, step: int, significance: str | None, importance: str | None) -> None:
    """Set the significance or importance of a step. The record does not change."""
    changes: types.SignificanceIn = {}
    if significance is not None:
        changes["significance"] = None if significance == RECORDED else significance
    if importance is not None:
        changes["importance"] = None if importance == RECORDED else _number(importance)
    if not changes:
        raise click.UsageError("Use --significance or --importance.")
    found = connected().sessions.weigh(target, step, **changes)
    show(found, _annotated(found))


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@options.several("--accept", metavar="N:RULE", help="Accept a suggestion for step N")
@options.several("--decline", metavar="N:RULE", help="Dismiss a suggestion for step N")
@options.as_json
def proposals(*, target: str, accept: tuple[str, ...], decline: tuple[str, ...]) -> None:
    """List, accept or dismiss suggestions of rules for steps without a significance."""
    answers = [(*_place(each), True) for each in accept] + [(*_place(each), False) for each in decline]
    client = connected()
    for step, rule, accepted in answers:
        client.sessions.answer(target, step, rule, accept=accepted)
    found = client.sessions.proposals(target)
    show(found, _suggestions(target, found))


@click.command(cls=OneEach)
@click.argument("target", metavar="[ID]", required=False)
@click.option("--preview", is_flag=True, help="Show the effect and exit.")
@click.option("--undo", is_flag=True, help="Restore the earlier importance of every step.")
@click.option(
    "--older-than",
    type=click.IntRange(1),
    metavar="DAYS",
    help="Compress every session that ended this many days ago.",
)
@click.option(
    "--rule",
    metavar="DAYS",
    help="Compress sessions automatically this many days after they end; `off` removes the rule.",
)
@options.as_json
def compress(
    *, target: str | None, preview: bool, undo: bool, older_than: int | None, rule: str | None
) -> None:
    """Lower the importance of exploratory turns of an ended session to 0.30.

    Decisions, solutions and breakthroughs keep their importance. No turn is changed or lost. --undo restores the importance.
    """
    if sum(each is not None for each in (target, older_than, rule)) != 1:
        raise click.UsageError("Use one of: a session, --older-than DAYS, or --rule DAYS.")
    if undo and (target is None or preview):
        raise click.UsageError("--undo needs one session and no --preview.")
    sessions = connected().sessions
    if target is not None:
        before = sessions.compression(target)
        found = (
            before if preview else sessions.undo_compression(target) if undo else sessions.compress(target)
        )
        lines = [_UNDONE] if undo else _effect(found, before)
        show(found, lines)
    elif older_than is not None:
        older = sessions.compress_older(older_than, preview=preview)
        number = counted(older["sessions"], "session")
        line = f"{number} compressed." if older["compressed"] else f"It would compress {number}."
        show(older, [line])
    else:
        changed = sessions.compression_rule(None if rule == OFF else _days(rule))
        show(changed, _rule(changed))


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option(
    "--collection",
    metavar="NAME",
    default="",
    help="The collection to store it in (default: the session's collection).",
)
@click.option(
    "--use-model",
    metavar="MODEL",
    help="The model that writes the summary; without one, the most important steps are quoted.",
)
@options.as_json
def summarise(*, target: str, collection: str, use_model: str | None) -> None:
    """Store a summary of a session as a frame in a collection. It names its source steps."""
    found = connected().sessions.summarise(target, collection=collection, use_model=use_model or None)
    show(found, _summary(found))


def _summary(found: types.SessionSummaryOut) -> Iterator[str]:
    yield f"Summary stored in {one_line(found['collection'])}, frame {found['frame']} version {found['version']}."
    steps = ", ".join(map(str, found["steps"])) or "none"
    cost = "unknown" if found["cost_usd"] is None and found["usage"] else f"${found['cost_usd'] or 0:g}"
    yield from facts([("model", found["model"]), ("steps", steps), ("cost", cost)])
    if found["unknown_steps"]:
        print_error(f"The model named steps it was not given: {', '.join(map(str, found['unknown_steps']))}.")


def _number(written: str) -> float:
    try:
        return options.ShareType().convert(written, None, None)
    except click.BadParameter as why:
        raise click.UsageError(
            f"{written!r} is not an importance. Use a number from 0 to 1, or `recorded`."
        ) from why


def _days(written: str | None) -> int:
    try:
        return int(written or "")
    except ValueError as why:
        raise click.UsageError(f"{written!r} is not a number of days. Use a whole number, or `off`.") from why


def _place(written: str) -> tuple[int, str]:
    step, _, rule = written.partition(":")
    if not (step.isascii() and step.isdigit() and rule):
        raise click.UsageError(f"{written!r} is not a suggestion. Use STEP:RULE, for example 4:error_gone.")
    return int(step), rule


def _annotated(found: types.ReadAction) -> Iterator[str]:
    yield f"Step {found['sequence']:,}:"
    yield from facts(
        [("significance", found["significance"] or "none"), ("importance", _shown(found["importance"]))]
    )
    if "recorded" in found:
        recorded = found["recorded"]
        yield f"  recorded: {recorded['significance'] or 'none'}, importance {_shown(recorded['importance'])}"


def _shown(number: float | None) -> str:
    return NOT_RECORDED if number is None else f"{number:g}"


def _suggestions(target: str, found: types.ProposalPage) -> Iterator[str]:
    if not found["items"]:
        yield "No suggestions."
    for each in found["items"]:
        yield f"step {each['sequence']:,}  {each['significance']}  ({each['rule']})"
        yield f"  {one_line(each['reason'])}"
    if found["items"]:
        first = found["items"][0]
        print_error(
            f"Accept one with: timemachine session proposals {target} --accept {first['sequence']}:{first['rule']}"
        )
    if found["read"] < found["recorded"]:
        print_error(f"Only the first {found['read']:,} of {found['recorded']:,} steps were checked.")


def _effect(found: types.CompressionOut, before: types.CompressionOut) -> Iterator[str]:
    about = " (about)" if found["estimated"] else ""
    already = before["compressed"] and before["through"] == found["through"]
    yield "Already compressed." if already else "Compressed." if found["compressed"] else "Preview:"
    yield from facts(
        [
            (
                name,
                f"{counted(amount['turns'], 'turn')}, {counted(amount['tokens'], 'token')}{about}",
            )
            for name, amount in (("unchanged", found["kept"]), ("lowered to 0.30", found["falls"]))
        ]
    )


def _rule(found: types.CompressionRuleOut) -> Iterator[str]:
    if found["days"] is None:
        yield "No automatic compression."
    else:
        yield f"Sessions are compressed {counted(found['days'], 'day')} after they end."


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--step", type=click.IntRange(min=1), required=True, metavar="N", help="The step.")
@click.option("--text", required=True, metavar="TEXT", help="The note: 1 to 2,000 characters.")
@options.as_json
def note(*, session: str, step: int, text: str) -> None:
    """Add a note to a step. The record does not change."""
    made = connected().notes.add(session, step, text=text)
    about = facts([("id", made["id"]), ("page", made["url"])])
    show(made, [f"Note added to step {made['sequence']:,}.", *about])


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@options.page
@options.as_json
def notes(*, session: str, limit: int, after: str | None) -> None:
    """List the notes of a session by step."""
    found = connected().notes.page(session, limit=limit, after=after)
    show(found, _listed(found))


def _listed(found: types.NotePage) -> Iterator[str]:
    if not found["items"]:
        yield "No notes yet. Add one with `timemachine session note ID --step N --text …`."
        return
    for each in found["items"]:
        yield f"step {each['sequence']:,}  {local(each['created_at'])}  {one_line(each['created_by'])}"
        for line in each["text"].split("\n"):
            yield f"  {visible(line)}"
    suggest_next_page(found)
