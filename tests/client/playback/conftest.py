"""Tests of playback refuse every connection except to this machine."""

import socket
from typing import Any

import pytest

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Refuse every connection to another machine, and return the addresses that were tried."""
    tried: list[Any] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connect_here(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            tried.append(address)
            raise ConnectionRefusedError(f"A connection to {address} was tried.")
        connect(self, address)

    def look_up_here(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in LOOPBACK:
            tried.append(host)
            raise socket.gaierror(f"The address of {host} was looked up.")
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
    return tried
