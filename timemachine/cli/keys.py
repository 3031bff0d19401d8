"""`key`: the project's API keys."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import InOrder
from timemachine.cli.moment import local
from timemachine.cli.table import facts, table
from timemachine.cli.terminal import show
from timemachine.cli.wording import shortened


@click.group(cls=InOrder)
def key() -> None:
    """Make, list and revoke API keys."""


@key.command()
@click.option("--name", required=True, metavar="N", help="Which program it is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="S",
    help="read, record, run, share or admin; say it again for more.",
)
@options.as_json
def create(*, name: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make a key; it is shown once."""
    with connected() as client:
        made = client.keys.create(name=name, scopes=[each for scope in scopes for each in _parts(scope)])
        show(made, _made(made), as_json=as_json)


@key.command("list")
@options.as_json
def list_(*, as_json: bool) -> None:
    """List the keys, without their secrets."""
    with connected() as client:
        found = client.keys.page()
        show(found, _listed(found), as_json=as_json)


@key.command()
@click.argument("key_id", metavar="ID")
@options.as_json
def revoke(*, key_id: str, as_json: bool) -> None:
    """End a key for good, at once."""
    with connected() as client:
        ended = client.keys.revoke(key_id)
        told = [
            f"Key {ended['id']} ({shortened(ended['name'])}) is revoked since {local(ended['revoked_at'])}."
        ]
        show(ended, told, as_json=as_json)


def _parts(scope: str) -> list[str]:
    return [part.strip() for part in scope.split(",")]


def _made(made: dict[str, Any]) -> Iterator[str]:
    yield made["key"]
    yield from facts([("id", made["id"]), ("name", made["name"]), ("scopes", ", ".join(made["scopes"]))])
    yield "This key is shown once; keep it now."


def _listed(found: dict[str, Any]) -> Iterator[str]:
    if not found["items"]:
        yield "There is no key yet."
        return
    yield from table(
        ["id", "name", "scopes", "created", "last used", "state"], [_row(each) for each in found["items"]]
    )


def _row(key: dict[str, Any]) -> list[str]:
    return [
        key["id"],
        shortened(key["name"], 40),
        " ".join(key["scopes"]),
        local(key["created_at"]),
        local(key["last_used_at"]) or "never",
        _state(key),
    ]


def _state(key: dict[str, Any]) -> str:
    if key["revoked_at"]:
        return f"revoked {local(key['revoked_at'])}"
    return f"until {local(key['expires_at'])}" if key["expires_at"] else "good"
