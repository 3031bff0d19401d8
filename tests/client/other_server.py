"""A server that is not Time Machine, to simulate what a network can do to a client."""

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Request(BaseHTTPRequestHandler):
    """A request and its body."""

    body = b""


type Behaviour = Callable[[Request], None]


class _Server(ThreadingHTTPServer):
    """Does not report a client that disconnects before its answer."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def other_server(behaviour: Behaviour) -> Generator[str]:
    """The address of a server that answers every request with `behaviour`."""

    class Handler(Request):
        def do_GET(self) -> None:
            behaviour(self)

        def do_POST(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
            behaviour(self)

        def log_message(self, *_: object) -> None:
            return

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answering(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """A behaviour that answers with this status, body and headers."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer
