"""`session compare` and `session totals`: two sessions or replays step by step, and the totals of a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.formatting import duration, recorded_tokens, shortened
from timemachine.cli.output.table import aligned, facts, table
from timemachine.cli.terminal import show, wants_json
from timemachine.core.pure.numbers import NOT_RECORDED, counted, spaced, total_cost

if TYPE_CHECKING:
    from timemachine.client.generated import types

GROUPS: Final = ("kind", "tool", "model", "agent")
_HEADS: Final = ("time", "share", "steps", "calls", "tool calls", "errors", "in", "out", "cost")
SIGNS: Final = {
    "same": "=",
    "modified": "~",
    "moved": "^",
    "only_left": "<",
    "only_right": ">",
    "not_asked": "-",
}
SHOWS: Final = ("all", "changed", "modified", "moved", "only_left", "only_right", "not_asked", "same")
_WHAT: Final = 44


@click.command(cls=OneEach)
@click.argument("ids", nargs=-1, metavar="[ID_A ID_B]")
@click.option("-a", "left", metavar="ID", help="Left session or replay.")
@click.option("-b", "right", metavar="ID", help="Right session or replay.")
@click.option(
    "--show",
    "shown",
    type=click.Choice(SHOWS),
    default="all",
    show_default=True,
    help="Only pairs with this status.",
)
@options.as_json
def compare(*, ids: tuple[str, ...], left: str | None, right: str | None, shown: str) -> None:
    """Compare two sessions or replays step by step.

    Steps are matched by content, those of a session and its replay by number: = same, ~ modified, ^ moved, < only left, > only
    right, - not asked.
    """
    one, other = _two(ids, left, right)
    found = connected().sessions.compare(one, other, show=shown)
    show(found, _lines(found, shown))


def _two(ids: tuple[str, ...], left: str | None, right: str | None) -> tuple[str, str]:
    """The two ids, from arguments or options. Raises `UsageError`."""
    named = [*ids]
    one = left if left is not None else named.pop(0) if named else None
    other = right if right is not None else named.pop(0) if named else None
    if one is None or other is None or named:
        raise click.UsageError("Name two sessions or replays: ID_A ID_B, or -a ID -b ID.")
    return one, other


def _lines(found: types.AlignmentOut, shown: str) -> Iterator[str]:
    yield from table(["", "left", "right"], list(_totals(found)), right=("left", "right"))
    yield ""
    counts = {name: count for name, count in found["counts"].items() if count or name != "not_asked"}
    yield ", ".join(f"{count:,} {spaced(status)}" for status, count in counts.items())
    if found["compared"] == "finds_and_asks":
        yield "Only finds, asks and model calls are compared."
    if (divergence := found["first_divergence"]) is not None:
        yield f"They diverge at {_place(divergence)}: {divergence['why']}."
    elif found["items"]:
        yield "No step was found where the agent acted differently."
    yield ""
    if not found["items"]:
        yield "No steps." if shown == "all" else f"No pairs with the status {spaced(shown)}."
    yield from _pairs(found["items"])


def _place(divergence: types.DivergenceOut) -> str:
    """Where two runs diverge: `step 4`, or `step 4 on the left and step 5 on the right`, a side without a step left out."""
    if divergence["a"] == divergence["b"]:
        return f"step {divergence['a']:,}"
    sides = (("left", divergence["a"]), ("right", divergence["b"]))
    return " and ".join(
        f"step {sequence:,} on the {side}" for side, sequence in sides if sequence is not None
    )


def _totals(found: types.AlignmentOut) -> Iterator[list[str]]:
    sides = found["a"], found["b"]
    yield ["what", *(_name(side) for side in sides)]
    yield ["key", *(side["key"] for side in sides)]
    yield ["steps", *(f"{side['steps']:,}" for side in sides)]
    yield ["errors", *(f"{side['errors']:,}" for side in sides)]
    yield ["tokens", *(recorded_tokens(side) for side in sides)]
    yield ["cost", *(total_cost(side["cost_usd"], side["unknown_cost_calls"]) for side in sides)]
    yield ["duration", *(duration(side["duration_ms"]) for side in sides)]


def _name(side: types.SideOut) -> str:
    if side["kind"] == "session":
        return shortened(side["name"], 40)
    model = f", {side['model']}" if side["model"] else ""
    return shortened(f"{side['replay_kind']} replay{model}", 40)


def _pairs(items: Iterable[types.StepPairOut]) -> Iterator[str]:
    for item in items:
        moved = [] if item["moved"] is None else [f"{'to' if item['a'] else 'from'} {item['moved']:,}"]
        cells = [
            SIGNS[item["status"]],
            aligned(_step(item["a"]), _WHAT),
            aligned(_step(item["b"]), _WHAT),
            ", ".join([*moved, *item["differs_in"]]),
        ]
        yield "  ".join(cells).rstrip()


def _step(step: types.SideStep | None) -> str:
    if step is None:
        return ""
    number = f"{step['sequence']:>5,}  "
    failed = "error: " if step["error"] is not None else ""
    if step.get("not_asked"):
        failed = f"not asked, {step['not_asked']}: "
    if step["copied"]:
        failed = f"copied, {failed}" if failed else "copied: "
    return number + shortened(f"{failed}{step['label'] or spaced(step['kind'])}", _WHAT - len(number))


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--by", type=click.Choice(GROUPS), default="kind", help="What each row represents (default: kind)."
)
@click.option(
    "--filter", "filter_", metavar="F", help="Only these steps, in the syntax of the timeline's filter."
)
@options.as_json
def totals(*, session: str, by: str, filter_: str | None) -> None:
    """Show the total time, tokens and cost of the steps of a session.

    Rows are sorted by time, which is the sum of the recorded durations.
    """
    client = connected()
    found = client.sessions.totals(session, by=by, filter=filter_)
    copied = 0 if wants_json() else client.sessions.summary(session)["copied_actions"]
    show(found, totals_lines(found, copied))


def totals_lines(found: types.TotalsOut, copied: int) -> Iterator[str]:
    """The totals of all steps, then the rows."""
    totals = found["totals"]
    calls = f"{counted(totals['calls'], 'model call')}, {counted(totals['tool_calls'], 'tool call')}"
    yield from facts(
        [
            ("filter", found["filter"]),
            ("steps", f"{totals['actions']:,}, {counted(totals['errors'], 'error')}{_without(copied)}"),
            ("time", _time(totals)),
            ("calls", calls),
            ("tokens", recorded_tokens(totals)),
            ("cost", total_cost(totals["cost_usd"], totals["unknown_cost_calls"])),
        ]
    )
    if found["items"]:
        by = found["by"]
        yield ""
        yield from table((by, *_HEADS), [_row(each, by) for each in found["items"]], right=_HEADS)


def _row(each: Mapping[str, Any], by: str) -> list[str]:
    return [
        NOT_RECORDED if each[by] is None else shortened(each[by], 40),
        duration(each["steps_ms"]),
        "–" if each["share"] is None else f"{each['share']:.1%}",
        *(f"{each[name]:,}" for name in ("actions", "calls", "tool_calls", "errors")),
        _number(each["input_tokens"]),
        _number(each["output_tokens"]),
        total_cost(each["cost_usd"], each["unknown_cost_calls"]),
    ]


def _without(copied: int) -> str:
    return f", without the session's {counted(copied, 'copied step')}" if copied else ""


def _time(totals: types.SumsOut) -> str:
    """The time of the steps, how many of them recorded it unless all did, and what the sum means if there is one."""
    timed, steps = totals["timed_actions"], totals["actions"]
    if not timed:
        return duration(totals["steps_ms"])
    of = "" if timed == steps else f", recorded by {timed:,} of {counted(steps, 'step')}"
    return f"{duration(totals['steps_ms'])}{of}; the time of a step within another counts in both"


def _number(count: int | None) -> str:
    return NOT_RECORDED if count is None else f"{count:,}"
