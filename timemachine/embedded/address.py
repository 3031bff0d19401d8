"""The address on which the web server listens."""

import os
import socket
from dataclasses import dataclass

from timemachine.core.pure.errors import Conflict, InvalidInput

_LAST_PORT = 65_535
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # recognised, not chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    @property
    def near(self) -> str:
        """The host name by which this machine reaches it."""
        return _EVERYWHERE.get(self.host, self.host)

    @property
    def url(self) -> str:
        """The URL of the first page."""
        host = f"[{self.near}]" if ":" in self.near else self.near
        return f"http://{host}:{self.port}/"


def chosen_address() -> Address:
    """`HOST` and `PORT`, by default port 8000 on 127.0.0.1. Raises `InvalidInput` for an invalid port."""
    written = os.environ.get("PORT", "").strip() or "8000"
    if not written.isdecimal() or not 0 < int(written) <= _LAST_PORT:
        raise InvalidInput(
            f"PORT is {written!r}. Set it to a number from 1 to {_LAST_PORT}.", code="not_a_port"
        )
    return Address(host=os.environ.get("HOST", "").strip() or "127.0.0.1", port=int(written))


def refuse_taken(address: Address) -> None:
    """Raise `Conflict` if the address is not available."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as why:
            raise Conflict(
                f"Port {address.port} on {address.host} is not available ({why.strerror}). "
                "Set PORT to a different one, for example PORT=8001.",
                code="port_taken",
            ) from why


def answers(address: Address) -> bool:
    """Whether a web server answers at the address."""
    try:
        with socket.create_connection((address.near, address.port), timeout=5) as connection:
            connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return connection.recv(5) == b"HTTP/"
    except OSError:
        return False
