"""The server that a command talks to, and what an argument names there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

import click

from timemachine.cli.failure import Failure
from timemachine.client.errors import Refused
from timemachine.client.server import find_server

if TYPE_CHECKING:
    from timemachine.client.client import Client

_MOST_NAMED = 5
_NOT_FOUND = 404


def connected() -> Client:
    """A client of the server that the environment names, or of the one on this machine; closed when the command ends."""
    server = find_server(os.environ)
    from timemachine.client.client import Client  # httpx takes 0.2 s to import

    return click.get_current_context().with_resource(Client(server))


def session_or_open(client: Client, given: str | None) -> str:
    """The session that was named, else the one that is open. Raises `Failure` if none or several are open."""
    if given is not None:
        return given
    found = client.sessions.page(status="recording")["items"]
    if not found:
        raise Failure("No session is open. Name one, or start one with `timemachine session start`.")
    if len(found) > 1:
        keys = ", ".join(each["key"] for each in found[:_MOST_NAMED])
        others = " and others" if len(found) > _MOST_NAMED else ""
        raise Failure(f"Several sessions are open: {keys}{others}. Name one of them.")
    return str(found[0]["id"])


def is_uuid(text: str) -> bool:
    """Whether the text is an id. Only sessions also have keys."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def exists(ask: Callable[[], object]) -> bool:
    """Whether the server finds what `ask` requests. Raises `Refused` for any answer but 404."""
    try:
        ask()
    except Refused as why:
        if why.status != _NOT_FOUND:
            raise
        return False
    return True
