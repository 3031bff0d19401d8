"""`up`, `manage`, `demo`, `status` and `models`: the server itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn, TypedDict

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.client.server import runs_here
from timemachine.core.pure.home import home
from timemachine.core.pure.numbers import UNKNOWN, money_or_unknown, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.command(cls=OneEach)
def up() -> None:
    """Start Time Machine on this machine; Ctrl-C stops it.

    Runs Postgres, migrations, a worker and the web server at 127.0.0.1:8000 or PORT, and prints a sign-in link.
    """
    _run_server("timemachine.embedded")


@click.command(cls=OneEach, context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def manage(*, words: tuple[str, ...]) -> None:
    """Run a command for operators on the server's database, such as `sign_in_link`.

    `help` lists them. They use the server that runs on this machine, or DATABASE_URL.
    """
    _run_server("timemachine.management", *words)


def _run_server(module: str, *words: str) -> NoReturn:
    """Become the program of the server, which then handles Ctrl-C. Raises `Failure` if only the client is installed."""
    if find_spec(module) is None:
        raise Failure("The server is not installed here. Install it with: uv tool install timemachine")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *words])  # noqa: S606


@click.command(cls=OneEach)
@click.option("--remove", is_flag=True, help="Remove everything that the demo created.")
@options.as_json
def demo(*, remove: bool) -> None:
    """Load an example, or remove it.

    The example is a recorded session with replays and a share link. Prints their links.
    """
    client = connected()
    if remove:
        removed = client.remove_demo()
        line = "The demo was removed." if removed["removed"] else "There is no demo to remove."
        show(removed, [line])
    else:
        made = client.load_demo()
        show(made, _made(made))


class ServerStatus(TypedDict):
    """The server and its state; the data folder if it runs on this machine."""

    url: str
    status: str
    project: str
    server_version: str
    version: str
    data_folder: str | None


@click.command(cls=OneEach)
@options.as_json
def status() -> None:
    """Show which server this is and whether it is ready.

    Also checks the API key.
    """
    client = connected()
    answer = client.connection.ready()
    if answer["status"] != "ready":
        why = str(answer.get("why", answer["status"]))
        raise Failure(f"{client.url} is not ready: {why.removesuffix('.')}.")
    project = client.project()  # refuses an invalid key
    document: ServerStatus = {
        "url": client.url,
        "status": answer["status"],
        "project": project["name"],
        "server_version": project["version"],
        "version": version("timemachine-client"),
        "data_folder": str(home()) if runs_here(client.url) else None,
    }
    lines = facts(
        [
            ("server", document["url"]),
            ("status", f"{document['status']}, and the key is accepted"),
            ("project", document["project"]),
            ("version", document["server_version"]),
            ("command", f"timemachine {document['version']}"),
            ("data", document["data_folder"] or "on the server's machine"),
        ]
    )
    show(document, lines)


def _made(made: types.DemoOut) -> Iterator[str]:
    yield "The demo is loaded." if made["new"] else "The demo was already loaded."
    links = [("session", made["session"]["url"])]
    links += [(f"{each['kind']} replay", each["url"]) for each in made["replays"]]
    yield from facts([*links, ("share link", made["share_url"] or "")])
    yield "The answer at step 2 is wrong. See the passage at rank 12 of the debug replay."
    yield "Remove it with `timemachine demo --remove`."


@click.command(cls=OneEach)
@options.as_json
def models() -> None:
    """List the models, whether you can use them, and their prices.

    Prices are US dollars per million input and output tokens. For any other model of a provider, add its name after the colon.
    """
    found = connected().models()
    show(found, _lines(found["items"]))


def _lines(items: list[types.OfferOut]) -> Iterator[str]:
    heads = ["model", "usable", "key", "input", "output", "price source", "remark"]
    rows = [row for each in items for row in (_row(each), *_also_priced(each))]
    yield from table(heads, rows, right=("input", "output"))


def _row(item: types.OfferOut) -> list[str]:
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


def _also_priced(item: types.OfferOut) -> Iterator[list[str]]:
    """Other models of the provider that have a price set by the operator."""
    for each in item["also_priced"]:
        prices = {
            "per_million_tokens": each["per_million_tokens"],
            "source": "override",
            "entry": each["model"],
        }
        yield _row(item | {"model": each["model"], "prices": prices})
