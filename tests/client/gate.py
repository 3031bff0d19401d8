"""A gate in front of a server: closed, it makes the server unreachable; it can also break off a request or an answer."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

type Fate = Literal["passes", "no request", "no answer"]


class Gate:
    """Forwards connections to a local server; `fates` decide the fate of the next requests in order, after which all pass. `requests` counts those that arrived."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._fates: Iterator[Fate] = iter(())
        self._open = True
        self.requests = 0
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        self._open = False
        self._listener.close()
        self._drop()

    def plan(self, fates: list[Fate]) -> None:
        """Set the fates of the next requests."""
        self._fates = iter(fates)

    def shut(self) -> None:
        """Make the server unreachable: open connections break off, new ones are rejected."""
        self._open = False
        self._drop()

    def open(self) -> None:
        """Make the server reachable again."""
        self._open = True

    def _drop(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets.clear()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._open:
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            server = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [client, server]
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()
            while data := client.recv(1 << 16):
                is_request = data[:4] in {b"POST", b"GET "}
                self.requests += is_request
                fate: Fate = next(self._fates, "passes") if is_request else "passes"
                if fate == "no request":
                    break
                if fate == "no answer":
                    self._deaf = client
                server.sendall(data)
        client.close()

    _deaf: socket.socket | None = None

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if self._deaf is client:
                    self._deaf = None
                    break
                client.sendall(data)
        for each in (server, client):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
