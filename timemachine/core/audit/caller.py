"""The actor of this request, a person or an API key, and its address."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

SYSTEM: Final = "system"
"""The actor outside requests: a worker, or a command on the server."""


@dataclass(slots=True, kw_only=True)
class Caller:
    """The actor of a request is an e-mail address or `key NAME`, and otherwise `system`. `address` is None outside requests.

    `actor` is empty in a request until it is authenticated.
    """

    actor: str = SYSTEM
    address: str | None = None


_CALLER: ContextVar[Caller] = ContextVar("caller")


def caller() -> Caller:
    """Return the actor and the address of the current request."""
    return _CALLER.get(None) or Caller()


def identify(actor: str) -> None:
    """Set the actor of this request, once authenticated. Outside requests this does nothing."""
    found = _CALLER.get(None)
    if found is not None:
        found.actor = actor


@contextmanager
def request_by(address: str | None) -> Iterator[None]:
    """Run a request from that address. It has no actor until `identify` is called."""
    token = _CALLER.set(Caller(actor="", address=address))
    try:
        yield
    finally:
        _CALLER.reset(token)
