"""`models`: what can be asked on this server, and what it costs."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import UNKNOWN, money_or_unknown, spaced


@click.command(cls=OneEach)
@options.as_json
def models(*, as_json: bool) -> None:
    """List the models: which can be used, and what they cost.

    Prices are US dollars per million tokens read and written. Any other model of a provider is named behind the colon.
    """
    with connected() as client:
        found = client.models()
        show(found, _lines(found["items"]), as_json=as_json)


def _lines(items: list[dict[str, Any]]) -> Iterator[str]:
    heads = ["model", "usable", "key", "read", "written", "price from", "remark"]
    rows = [row for each in items for row in (_row(each), *_also_priced(each))]
    yield from table(heads, rows, right=("read", "written"))


def _row(item: dict[str, Any]) -> list[str]:
    prices = item["prices"] or {}
    units = prices.get("per_million_tokens", {})
    return [
        item["model"] or f"{item['provider']}:…",
        spaced(item["state"]),
        spaced(item["key"]),
        money_or_unknown(units.get("input")),
        money_or_unknown(units.get("output")),
        " ".join(str(prices[name]) for name in ("source", "version", "entry") if name in prices) or UNKNOWN,
        item["remark"] or "",
    ]


def _also_priced(item: dict[str, Any]) -> Iterator[list[str]]:
    """Other models of the provider that the operator's prices name."""
    for each in item["also_priced"]:
        prices = {
            "per_million_tokens": each["per_million_tokens"],
            "source": "override",
            "entry": each["model"],
        }
        yield _row(item | {"model": each["model"], "prices": prices})
