"""A server that is not Time Machine, for what a network can do to a client."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request(BaseHTTPRequestHandler):
    """A request, and its body."""

    body = b""


type Behaviour = Callable[[Request], None]


@contextmanager
def other_server(behaviour: Behaviour) -> Generator[str]:
    """The address of a server that answers every request by `behaviour`."""

    class Handler(Request):
        def do_GET(self) -> None:
            behaviour(self)

        def do_POST(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
            behaviour(self)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answering(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """A behaviour: this status, this body, these headers."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer
