"""`session totals`: totals of the steps of a session by kind, tool, model or agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.formatting import duration, recorded_tokens, shortened
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import NOT_RECORDED, counted, total_cost

if TYPE_CHECKING:
    from timemachine.client.generated import types

GROUPS: Final = ("kind", "tool", "model", "agent")
_HEADS: Final = ("time", "share", "steps", "calls", "tool calls", "errors", "in", "out", "cost")


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--by", type=click.Choice(GROUPS), default="kind", help="What each row stands for (default kind)."
)
@click.option(
    "--filter", "filter_", metavar="F", help="Only these steps, in the syntax of the timeline's filter."
)
@options.as_json
def totals(*, session: str, by: str, filter_: str | None) -> None:
    """Show the total time, tokens and cost of the steps of a session.

    Rows are sorted by time, which is the sum of the recorded durations.
    """
    found = connected().sessions.totals(session, by=by, filter=filter_)
    show(found, totals_lines(found))


def totals_lines(found: types.TotalsOut) -> Iterator[str]:
    """The totals of all steps, then the rows."""
    totals = found["totals"]
    calls = f"{counted(totals['calls'], 'model call')}, {counted(totals['tool_calls'], 'tool call')}"
    yield from facts(
        [
            ("filter", found["filter"]),
            ("steps", f"{totals['actions']:,}, {counted(totals['errors'], 'error')}"),
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
        duration(each["duration_ms"]),
        "–" if each["share"] is None else f"{each['share']:.1%}",
        *(f"{each[name]:,}" for name in ("actions", "calls", "tool_calls", "errors")),
        _number(each["input_tokens"]),
        _number(each["output_tokens"]),
        total_cost(each["cost_usd"], each["unknown_cost_calls"]),
    ]


def _time(totals: types.SumsOut) -> str:
    """The time of the steps, and how many of them recorded it unless all did."""
    timed, steps = totals["timed_actions"], totals["actions"]
    time = duration(totals["duration_ms"])
    return time if timed in (0, steps) else f"{time}, recorded by {timed:,} of {counted(steps, 'step')}"


def _number(count: int | None) -> str:
    return NOT_RECORDED if count is None else f"{count:,}"
