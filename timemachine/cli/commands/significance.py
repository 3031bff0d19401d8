"""`session weigh`, `session proposals` and `session compress`: how much steps matter, beside the record."""

from collections.abc import Iterator
from typing import Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import one_line
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import complain, show
from timemachine.core.pure.numbers import counted

RECORDED = "recorded"
OFF = "off"
_UNDONE: Final = "It is undone: every turn counts again what it counted before."


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option("--step", type=click.IntRange(1), required=True, metavar="N", help="The step it is about.")
@click.option(
    "--significance",
    metavar="WORD",
    help="decision, solution, breakthrough …; `recorded` goes back to the record.",
)
@click.option("--importance", metavar="X", help="From 0 to 1; `recorded` goes back to the record.")
@options.as_json
def weigh(*, target: str, step: int, significance: str | None, importance: str | None, as_json: bool) -> None:
    """Say how much a step matters, beside the record, which stays."""
    said: dict[str, Any] = {}
    if significance is not None:
        said["significance"] = None if significance == RECORDED else significance
    if importance is not None:
        said["importance"] = None if importance == RECORDED else _number(importance)
    if not said:
        raise click.UsageError("Say --significance or --importance.")
    with connected() as client:
        found = client.sessions.weigh(target, step, **said)
        show(found, _weighed(found), as_json=as_json)


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option(
    "--accept",
    multiple=True,
    metavar="N:RULE",
    help="Say what is proposed for step N; may be given several times.",
)
@click.option("--decline", multiple=True, metavar="N:RULE", help="Do not propose that again.")
@options.as_json
def proposals(*, target: str, accept: tuple[str, ...], decline: tuple[str, ...], as_json: bool) -> None:
    """Show which significance rules propose for steps to which nobody gave one, and why; say yes or no to them."""
    answers = [(*_place(each), True) for each in accept] + [(*_place(each), False) for each in decline]
    with connected() as client:
        for step, rule, yes in answers:
            client.sessions.answer(target, step, rule, accept=yes)
        found = client.sessions.proposals(target)
        show(found, _proposed(target, found), as_json=as_json)


@click.command(cls=OneEach)
@click.argument("target", metavar="[ID]", required=False)
@click.option("--preview", is_flag=True, help="Only say what it does.")
@click.option("--undo", is_flag=True, help="Let every turn count again what it counted before.")
@click.option(
    "--older-than",
    type=click.IntRange(1),
    metavar="DAYS",
    help="Every session that ended so long ago, instead of one.",
)
@click.option(
    "--rule", metavar="DAYS", help="From now on by itself, so many days after the end; `off` for no rule."
)
@options.as_json
def compress(
    *, target: str | None, preview: bool, undo: bool, older_than: int | None, rule: str | None, as_json: bool
) -> None:
    """Let the exploratory turns of an ended session count 0.30; decisions, solutions and breakthroughs stay as they are.

    No turn is changed or lost, and --undo takes it back.
    """
    if sum(each is not None for each in (target, older_than, rule)) != 1:
        raise click.UsageError("Name a session, or --older-than DAYS, or --rule DAYS.")
    if undo and (target is None or preview):
        raise click.UsageError("--undo goes with one session, and alone.")
    with connected() as client:
        of = client.sessions
        if target is not None:
            before = of.compression(target)
            found = before if preview else of.undo_compression(target) if undo else of.compress(target)
            lines = [_UNDONE] if undo else _effect(found, before)
            show(found, lines, as_json=as_json)
        elif older_than is not None:
            found = of.compress_older(older_than, preview=preview)
            show(found, _older(found), as_json=as_json)
        else:
            found = of.compression_rule(None if rule == OFF else _days(rule))
            show(found, _rule(found), as_json=as_json)


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option(
    "--collection", metavar="NAME", default="", help="Where it is put; the session's own without it."
)
@click.option(
    "--use-model", metavar="MODEL", help="Who writes it; without one the turns that matter most are quoted."
)
@options.as_json
def summarise(*, target: str, collection: str, use_model: str | None, as_json: bool) -> None:
    """Put a summary of a session into a collection, as a frame that names the steps it rests on."""
    how = {"collection": collection} | ({"use_model": use_model} if use_model else {})
    with connected() as client:
        found = client.sessions.summarise(target, **how)
        show(found, _summarised(found), as_json=as_json)


def _summarised(found: dict[str, Any]) -> Iterator[str]:
    yield f"Frame {found['frame']} of {one_line(found['collection'])} has the summary, version {found['version']}."
    steps = ", ".join(map(str, found["steps"])) or "none"
    cost = "unknown" if found["cost_usd"] is None and found["usage"] else f"${found['cost_usd'] or 0:g}"
    yield from facts([("model", found["model"]), ("steps", steps), ("cost", cost)])
    if found["unknown_steps"]:
        complain(f"It names steps that it was not told: {', '.join(map(str, found['unknown_steps']))}.")


def _number(written: str) -> float:
    try:
        return options.ShareType().convert(written, None, None)
    except click.BadParameter as why:
        raise click.UsageError(
            f"{written!r} is no importance; write a number from 0 to 1, or `recorded`."
        ) from why


def _days(written: str | None) -> int:
    try:
        return int(written or "")
    except ValueError as why:
        raise click.UsageError(f"{written!r} is no number of days; write one, or `off`.") from why


def _place(written: str) -> tuple[int, str]:
    step, _, rule = written.partition(":")
    if not (step.isascii() and step.isdigit() and rule):
        raise click.UsageError(f"{written!r} names no proposal; write STEP:RULE, as 4:error_gone.")
    return int(step), rule


def _weighed(found: dict[str, Any]) -> Iterator[str]:
    yield f"Step {found['sequence']:,}:"
    yield from facts(
        [("significance", found["significance"] or "none"), ("importance", _shown(found["importance"]))]
    )
    if "recorded" in found:
        was = found["recorded"]
        yield f"  recorded: {was['significance'] or 'none'}, importance {_shown(was['importance'])}"


def _shown(number: float | None) -> str:
    return "not recorded" if number is None else f"{number:g}"


def _proposed(target: str, found: dict[str, Any]) -> Iterator[str]:
    if not found["items"]:
        yield "Nothing is proposed."
    for each in found["items"]:
        yield f"step {each['sequence']:,}  {each['significance']}  ({each['rule']})"
        yield f"  {one_line(each['reason'])}"
    if found["items"]:
        first = found["items"][0]
        complain(
            f"Say yes: timemachine session proposals {target} --accept {first['sequence']}:{first['rule']}"
        )
    if found["read"] < found["recorded"]:
        complain(f"The first {found['read']:,} of {found['recorded']:,} steps were read.")


def _effect(found: dict[str, Any], before: dict[str, Any]) -> Iterator[str]:
    about = " (about)" if found["estimated"] else ""
    already = before["compressed"] and before["through"] == found["through"]
    yield "Compressed already." if already else "Compressed." if found["compressed"] else "It would do this:"
    yield from facts(
        [
            (
                name,
                f"{counted(found[part]['turns'], 'turn')}, {counted(found[part]['tokens'], 'token')}{about}",
            )
            for name, part in (("as before", "kept"), ("count 0.30", "falls"))
        ]
    )


def _older(found: dict[str, Any]) -> Iterator[str]:
    many = f"{found['sessions']:,} session{'' if found['sessions'] == 1 else 's'}"
    yield f"{many} compressed." if found["compressed"] else f"It would compress {many}."


def _rule(found: dict[str, Any]) -> Iterator[str]:
    if found["days"] is None:
        yield "No session is compressed by itself."
    else:
        yield f"Sessions are compressed {found['days']:,} day{'' if found['days'] == 1 else 's'} after their end."
