"""`costs`: the cost of recorded sessions by agent, model, tag, day or tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.formatting import duration, shortened
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import NOT_RECORDED, counted, saved, total_cost
from timemachine.core.pure.unknown_prices import reasons_in_words

if TYPE_CHECKING:
    from timemachine.client.generated import types

GROUPS: Final = ("agent", "model", "tag", "day", "tool")
_LATENCY: Final = ("p50", "p95")


@click.command(cls=OneEach)
@click.option(
    "--by", type=click.Choice(GROUPS), default="model", help="What each row represents (default: model)."
)
@click.option("--since", metavar="DAY", help="First day in UTC (default: 30 days up to --until).")
@click.option("--until", metavar="DAY", help="Last day in UTC (default: today).")
@click.option("--agent", metavar="A", help="Only steps of this agent.")
@click.option("--model", metavar="M", help="Only calls of this model.")
@click.option("--tag", metavar="TAG", help="Only sessions with this tag.")
@click.option("--tool", metavar="T", help="Only calls of this tool.")
@options.as_json
def costs(*, by: str, **filters: str | None) -> None:
    """Show the cost, tokens, calls and latency of recorded sessions over some days.

    The cost of replays, with continuations, is shown separately and is not part of any total.
    """
    found = connected().costs(by, **filters)
    show(found, cost_lines(found))


def cost_lines(found: types.CostsOut) -> Iterator[str]:
    """The totals, then the rows."""
    totals, replays = found["totals"], found["replays"]
    yield from facts(
        [
            ("days", f"{found['since']} to {found['until']} (UTC)"),
            ("sessions", f"{totals['sessions']:,}"),
            (
                "calls",
                f"{counted(totals['calls'], 'model call')}, {counted(totals['tool_calls'], 'tool call')}",
            ),
            ("tokens", _tokens(totals)),
            ("cost", total_cost(totals["cost_usd"], totals["unknown_cost_calls"])),
            ("unknown", reasons_in_words(totals["unknown_reasons"])),
            ("saved", _saved(totals)),
            ("undated", _undated(found["undated"])),
            ("replays", "" if replays is None else _replays(replays)),
        ]
    )
    if found["items"]:
        yield ""
        yield from _rows(found["items"], found["by"])


def _rows(items: Sequence[Mapping[str, Any]], by: str) -> Iterator[str]:
    heads = (
        (by, "calls", "errors", "of calls", *_LATENCY)
        if by == "tool"
        else (by, "calls", "tokens", "cost", *_LATENCY)
    )
    rows = [
        [
            NOT_RECORDED if each[by] is None else shortened(each[by]),
            *_numbers(each, by),
            duration(each["p50_ms"]),
            duration(each["p95_ms"]),
        ]
        for each in items
    ]
    yield from table(heads, rows, right=heads[1:])


def _numbers(row: Mapping[str, Any], by: str) -> list[str]:
    if by == "tool":
        share = row["error_share"]
        return [f"{row['tool_calls']:,}", f"{row['errors']:,}", "–" if share is None else f"{share:.1%}"]
    return [f"{row['calls']:,}", _tokens(row), total_cost(row["cost_usd"], row["unknown_cost_calls"])]


def _tokens(row: Mapping[str, Any]) -> str:
    recorded = [count for count in (row["input_tokens"], row["output_tokens"]) if count is not None]
    return f"{sum(recorded):,}" if recorded else NOT_RECORDED


def _saved(totals: types.CostTotals) -> str:
    if not totals["cached_calls"]:
        return ""
    sum_ = saved(totals["saved_usd"], totals["unknown_saved_calls"])
    return f"{sum_} by {counted(totals['cached_calls'], 'cached answer')}"


def _undated(spent: types.UndatedCosts) -> str:
    """The cost of imported steps without times; empty if there are none with calls."""
    if not spent["calls"] and spent["cost_usd"] is None:
        return ""
    cost = total_cost(spent["cost_usd"], spent["unknown_cost_calls"])
    return f"{cost} for imported steps without times, not included above"


def _replays(spent: types.CostOfReplays) -> str:
    interrupted = spent["uncertain_calls"]
    uncertain = (
        f", {counted(interrupted, 'interrupted call')} that may have been billed" if interrupted else ""
    )
    return f"{total_cost(spent['cost_usd'], spent['unknown_cost_calls'])}{uncertain}, not included above"
