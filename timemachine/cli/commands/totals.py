"""`session totals`: what some steps of a session add up to, by kind, tool, model or agent."""

from collections.abc import Iterator
from typing import Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import duration, shortened, tokens
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import NOT_RECORDED, counted, total_cost

GROUPS: Final = ("kind", "tool", "model", "agent")
_HEADS: Final = ("time", "share", "steps", "calls", "tool calls", "errors", "in", "out", "cost")


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option("--by", type=click.Choice(GROUPS), default="kind", help="What the rows are of (kind).")
@click.option(
    "--filter", "filter_", metavar="F", help="Only these steps, as the timeline's filter is written."
)
@options.as_json
def totals(*, session: str, by: str, filter_: str | None, as_json: bool) -> None:
    """Add up steps of a session: time, tokens, cost.

    The rows are by kind, tool, model or agent, the longest first. Time is what the steps recorded, added up.
    """
    with connected() as client:
        found = client.sessions.totals(session, by=by, filter=filter_)
        show(found, totals_lines(found), as_json=as_json)


def totals_lines(found: dict[str, Any]) -> Iterator[str]:
    """The steps together, then a line for each row."""
    whole = found["totals"]
    calls = f"{counted(whole['calls'], 'model call')}, {counted(whole['tool_calls'], 'tool call')}"
    yield from facts(
        [
            ("filter", found["filter"]),
            ("steps", f"{whole['actions']:,}, {counted(whole['errors'], 'error')}"),
            ("time", _time(whole)),
            ("calls", calls),
            ("tokens", _tokens(whole)),
            ("cost", total_cost(whole["cost_usd"], whole["unknown_cost_calls"])),
        ]
    )
    if found["items"]:
        by = found["by"]
        yield ""
        yield from table((by, *_HEADS), [_row(each, by) for each in found["items"]], right=_HEADS)


def _row(each: dict[str, Any], by: str) -> list[str]:
    return [
        NOT_RECORDED if each[by] is None else shortened(each[by], 40),
        duration(each["duration_ms"]),
        "–" if each["share"] is None else f"{each['share']:.1%}",
        *(f"{each[name]:,}" for name in ("actions", "calls", "tool_calls", "errors")),
        _number(each["input_tokens"]),
        _number(each["output_tokens"]),
        total_cost(each["cost_usd"], each["unknown_cost_calls"]),
    ]


def _time(whole: dict[str, Any]) -> str:
    """The time of the steps, and of how many of them it was recorded where that is not of all."""
    timed, steps = whole["timed_actions"], whole["actions"]
    said = duration(whole["duration_ms"])
    return said if timed in (0, steps) else f"{said}, recorded by {timed:,} of {counted(steps, 'step')}"


def _tokens(whole: dict[str, Any]) -> str:
    counts = (whole["input_tokens"], whole["output_tokens"])
    return NOT_RECORDED if counts == (None, None) else tokens(whole)


def _number(count: int | None) -> str:
    return NOT_RECORDED if count is None else f"{count:,}"
