"""`key`: the project's API keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.formatting import expiry_time, local, shortened
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.core.pure.clock import now

if TYPE_CHECKING:
    from timemachine.client.generated import types

EXPIRES_SOON = timedelta(days=14)


@click.group(cls=InOrder)
def key() -> None:
    """Create, list and revoke API keys."""


@key.command()
@click.option("--name", required=True, metavar="N", help="The client that will use the key.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="S",
    help="read, record, run, share or admin; repeat for more.",
)
@click.option(
    "--expires",
    default="",
    show_default="90d",
    metavar="WHEN",
    help="Expiry: 30m, 12h, 14d or 2w from now, a time, a date (its end), or never.",
)
@options.as_json
def create(*, name: str, scopes: tuple[str, ...], expires: str) -> None:
    """Create a key. It is shown only once."""
    never = expires == "never"
    expires_at = None if never or not expires else expiry_time(expires, now())
    client = connected()
    parts = [part.strip() for scope in scopes for part in scope.split(",")]
    made = client.keys.create(name=name, scopes=parts, expires_at=expires_at, never_expires=never)
    show(made, _made(made))


@key.command("list")
@options.as_json
def list_() -> None:
    """List the keys, without their secrets."""
    found = connected().keys.page()
    show(found, _listed(found))


@key.command()
@click.argument("key_id", metavar="ID")
@options.as_json
def revoke(*, key_id: str) -> None:
    """Revoke a key immediately and permanently."""
    ended = connected().keys.revoke(key_id)
    line = f"Key {ended['id']} ({shortened(ended['name'])}) was revoked {local(ended['revoked_at'])}."
    show(ended, [line])


def _made(made: types.KeyCreated) -> Iterator[str]:
    yield made["key"]
    yield from facts(
        [
            ("id", made["id"]),
            ("name", made["name"]),
            ("scopes", ", ".join(made["scopes"])),
            ("expires", _end(made)),
        ]
    )
    yield "Copy this key now. It will not be shown again."


def _listed(found: types.KeyPage) -> Iterator[str]:
    heads = ["id", "name", "scopes", "created", "last used", "expires", "state"]
    none = "No API keys yet. Create one with `timemachine key create --name NAME --scope SCOPE`."
    yield from table(heads, [_row(each) for each in found["items"]], none=none)


def _row(key: types.KeyOut) -> list[str]:
    return [
        key["id"],
        shortened(key["name"], 40),
        " ".join(key["scopes"]),
        local(key["created_at"]),
        local(key["last_used_at"]) or "never",
        _end(key),
        _state(key),
    ]


def _end(key: types.KeyOut | types.KeyCreated) -> str:
    return local(key["expires_at"]) or "never"


def _state(key: types.KeyOut) -> str:
    if key["revoked_at"]:
        return f"revoked {local(key['revoked_at'])}"
    if key["expires_at"] is None:
        return "active"
    left = datetime.fromisoformat(key["expires_at"]) - now()
    if left <= timedelta(0):
        return "expired"
    return "expires soon" if left <= EXPIRES_SOON else "active"
