"""The server that a command talks to, and the session that it means."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from timemachine.cli.failure import Failure
from timemachine.client.server import find_server

if TYPE_CHECKING:
    from timemachine.client.client import Client

_MOST_NAMED = 5


@contextmanager
def connected() -> Iterator["Client"]:
    """A client of the server that the environment names, or that runs on this machine."""
    server = find_server(os.environ)
    from timemachine.client.client import Client  # httpx costs 0.2 s: a refusal before it is at once

    with Client(server) as client:
        yield client


def meant_session(client: "Client", given: str | None) -> str:
    """The session that was named, or else the one that is open. Raises `Failure` where none or several are."""
    if given is not None:
        return given
    found = client.sessions.page(status="recording")["items"]
    if not found:
        raise Failure("No session is open; name one, or start one with `timemachine session start`.")
    if len(found) > 1:
        raise Failure(f"Several sessions are open: {_named(found)}; say which one you mean.")
    return str(found[0]["id"])


def _named(sessions: list[dict[str, Any]]) -> str:
    keys = ", ".join(each["key"] for each in sessions[:_MOST_NAMED])
    return f"{keys} and others" if len(sessions) > _MOST_NAMED else keys
