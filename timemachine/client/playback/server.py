"""The local HTTP server of playback. It listens on the loopback only and opens no connection itself."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final, Self
from urllib.parse import urlsplit

from timemachine.client.playback.pure.apis import APIS, CHAT, MESSAGES, Api
from timemachine.client.playback.pure.calls import PlayedCall
from timemachine.client.playback.pure.playback import BAD_REQUEST, Playback, Reply
from timemachine.client.playback.recordings import Recording
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import MEDIA_TYPE

HOST: Final = "127.0.0.1"
LARGEST_BODY: Final = 256 * 1024 * 1024
_HERE: Final = ("127.0.0.1", "localhost", "[::1]")
_PORT: Final = re.compile(r":\d*$")
_LONGEST_LENGTH: Final = 20
"""The most digits of a Content-Length."""
_NOT_FOUND, _NOT_ALLOWED, _NO_LENGTH, _TOO_LARGE = 404, 403, 411, 413


class PlaybackServer:
    """Answers from a recording on a port of the loopback until it is closed; a context manager. Port 0 is any free one.

    Each recorded answer is used once, in order; with `start_over`, equal requests begin with the first again after the last.
    """

    def __init__(self, recording: Recording, *, port: int = 0, start_over: bool = False) -> None:
        self.playback = Playback(recording.calls, start_over=start_over)
        self.name = recording.key
        self._server = _Server((HOST, port))
        self._server.running = self
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address without `/v1`, which Anthropic's SDK expects."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """The address with `/v1`, which OpenAI's SDK expects."""
        return f"{self.url}/v1"

    @property
    def unused(self) -> tuple[PlayedCall, ...]:
        """The recorded calls that answered no request yet."""
        return self.playback.unused

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        if self._thread is not None:
            self._thread.join()
        self.close()

    def run(self) -> None:
        """Serve until interrupted."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop listening."""
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """Answers each connection in a thread of its own."""

    daemon_threads = False  # `server_close` waits for them
    running: PlaybackServer

    def __init__(self, address: tuple[str, int]) -> None:
        self.connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without the lookup of the machine's name, which http.server does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a connection."""
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have disconnected; report anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop listening, and end the connections that clients keep open."""
        for connection in [*self.connections]:
            with contextlib.suppress(OSError):  # the client was first
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        """Answer with the state, or the models."""
        path = self._path()
        if not self._is_here():
            return
        if path == "/models":
            self._send(Reply(status=200, body=_models(self.server.running.playback.models)))
        elif path in ("", "/"):
            self._send(Reply(status=200, body=self._state()))
        else:
            self._refuse(_NOT_FOUND, f"Playback does not serve {self.path[:80]}.")

    def do_POST(self) -> None:
        """Answer a request from the record."""
        body = self._body()
        if body is None or not self._is_here():
            return
        api = APIS.get(self._path())
        if api is None:
            paths = ", ".join(f"/v1{path}" for path in APIS)
            self._refuse(
                _NOT_FOUND, f"Playback does not serve {self.path[:80]}. It answers {paths} and /v1/models."
            )
            return
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as why:
            self._refuse(BAD_REQUEST, f"The body is not JSON: {why}.")
            return
        self._send(self.server.running.playback.answer(api, document))

    def log_message(self, *_: Any) -> None:
        """Print nothing: the errors are in the answers."""

    def _path(self) -> str:
        """The path without the version, which SDKs put in the base URL or the path."""
        try:
            path = urlsplit(self.path).path
        except ValueError:  # not an address
            path = self.path
        return path.removeprefix("/v1").rstrip("/")

    def _is_here(self) -> bool:
        """Whether the request names this machine. A page in a browser that was made to resolve to it does not."""
        host = self.headers.get("Host", HOST).lower()
        if _PORT.sub("", host) in _HERE:
            return True
        self._refuse(_NOT_ALLOWED, f"Playback answers only at {self.server.running.url}.")
        return False

    def _body(self) -> bytes | None:
        """The body. None if it was refused."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > _LONGEST_LENGTH:
            self.close_connection = True
            self._refuse(_NO_LENGTH, "Send the body with a Content-Length.")
            return None
        if int(length) > LARGEST_BODY:
            self.close_connection = True
            self._refuse(_TOO_LARGE, f"The body has more than {LARGEST_BODY:,} bytes.")
            return None
        return self.rfile.read(int(length))

    def _state(self) -> JsonObject:
        running = self.server.running
        return {
            "playback": running.name,
            "calls": len(running.playback.calls),
            "unused": [call.sequence for call in running.unused],
        }

    def _refuse(self, status: int, message: str) -> None:
        api: Api = MESSAGES if "anthropic-version" in self.headers or self._path() == MESSAGES.path else CHAT
        self._send(Reply(status=status, body=api.error(status, message, {})))

    def _send(self, reply: Reply) -> None:
        """Send the head and the body in one piece, so that no part waits for an acknowledgement."""
        content = json.dumps(reply.body).encode() if reply.stream is None else reply.stream
        kind = "application/json" if reply.stream is None else f"{MEDIA_TYPE}; charset=utf-8"
        self.send_response_only(reply.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Should-Retry", "false")
        if reply.step is not None:
            self.send_header("Timemachine-Step", str(reply.step))
        if self.close_connection:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n" + content)  # type: ignore[attr-defined]  # sent together with the head
        self.flush_headers()


def _models(names: tuple[str, ...]) -> JsonObject:
    """A list of models that is one of both vendors' APIs."""
    items = [
        {
            "id": name,
            "object": "model",
            "type": "model",
            "created": 0,
            "created_at": "1970-01-01T00:00:00Z",
            "display_name": name,
            "owned_by": "recording",
        }
        for name in names
    ]
    ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
    return {"object": "list", "data": items, "has_more": False, **ends}
