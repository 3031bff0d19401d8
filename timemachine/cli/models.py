"""`models`: what can be asked on this server, and what it costs."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.base.wording import UNKNOWN, money_or_unknown
from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.table import table
from timemachine.cli.terminal import show
from timemachine.cli.wording import words

_WHY_NOT = {"not_checked": "nobody has tested it yet", "not_reached": "not at the last test"}


@click.command()
@options.as_json
def models(*, as_json: bool) -> None:
    """List the models: which can be used, and what they cost.

    Prices are US dollars per million tokens read and written. Any other model of a provider is named behind the colon.
    """
    with connected() as client:
        found = client.models()
        show(found, _lines(found["items"]), as_json=as_json)


def _lines(items: list[dict[str, Any]]) -> Iterator[str]:
    heads = ["model", "usable", "key", "read", "written", "price from", "why not"]
    yield from table(heads, [_row(each) for each in items], right=("read", "written"))


def _row(item: dict[str, Any]) -> list[str]:
    prices = item["prices"] or {}
    units = prices.get("per_million_tokens", {})
    return [
        item["model"] or f"{item['provider']}:…",
        words(item["state"]),
        words(item["key"]),
        money_or_unknown(units.get("input")),
        money_or_unknown(units.get("output")),
        " ".join(str(prices[name]) for name in ("source", "version", "entry") if name in prices) or UNKNOWN,
        item["why_not"] or _WHY_NOT.get(item["state"], ""),
    ]
