"""An HTTP server on the loopback for playback and for the proxy: bodies and answers are streamed, and a handler stops when its client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self
from urllib.parse import urlsplit

import h11

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
_HERE: Final = ("127.0.0.1", "localhost", "[::1]")
_PORT: Final = re.compile(r":\d*$")
_LONGEST_HEAD: Final = 256 * 1024
_MOST_UNREAD: Final = 1024 * 1024
"""Bytes of a body that wait for the handler before the client has to wait."""
_WAITING: Final = 1024
"""Connections that wait to be accepted."""
_START_SECONDS: Final = 30.0

type Headers = Sequence[tuple[bytes, bytes]]
type Handler = Callable[["Request", "Answer"], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request. `headers` are as the client wrote them; `path` and `query` are parts of `target`, and `body` can be read once."""

    method: str
    target: str
    headers: Headers
    body: AsyncIterator[bytes]

    def header(self, name: str) -> str | None:
        """Return the first value of a header, None without it."""
        wanted = name.lower().encode()
        found = (value for each, value in self.headers if each.lower() == wanted)
        return next((value.decode("latin-1") for value in found), None)

    @property
    def path(self) -> str:
        """The path of the target."""
        try:
            return urlsplit(self.target).path
        except ValueError:  # not an address
            return self.target

    @property
    def query(self) -> str:
        """The part after the question mark, as it was sent."""
        return self.target.partition("?")[2]

    @property
    def names_this_machine(self) -> bool:
        """Whether the request names this machine. A page in a browser that was made to resolve to it does not."""
        return _is_here(self.header("host") or HOST)

    @property
    def is_of_foreign_page(self) -> bool:
        """Whether a page of another site sent it from a browser. Browsers send simple requests to any address, and only hide the answer."""
        origin = self.header("origin") or ""
        scheme, _, host = origin.partition("://")
        return origin == "null" or (scheme in ("http", "https") and not _is_here(host))


class Answer:
    """The answer to one request. `begin` sends its head, `send` a part of its body, and `end` its end."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self.begun = False

    def begin(self, status: int, headers: Headers, reason: bytes = b"") -> None:
        """Send the status and the headers together with the first part of the body."""
        self.begun = True
        reason = reason or _reason(status)
        self._connection.hold(h11.Response(status_code=status, headers=list(headers), reason=reason))

    async def send(self, part: bytes) -> None:
        """Send a part of the body now, and wait while the client does not read."""
        await self._connection.send(h11.Data(data=part))

    async def end(self) -> None:
        """End the answer."""
        await self._connection.send(h11.EndOfMessage())

    def flush(self) -> None:
        """Send the head although there is no body yet."""
        self._connection.flush()

    def abort(self) -> None:
        """Close the connection, so that the client sees that the answer is not complete."""
        self._connection.abort()


class LocalServer:
    """Answers requests on a port of the loopback. Port 0 is any free one. `run` serves in this thread, a `with` block in another.

    `at_end` is awaited when no handler runs any more. Raises `OSError` if the port is taken.
    """

    def __init__(
        self, handler: Handler, *, port: int = 0, at_end: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.handler = handler
        self._at_end = at_end
        self.is_stopping = False
        self._socket = socket.create_server((HOST, port), backlog=_WAITING)
        self.port: int = self._socket.getsockname()[1]
        self._connections: set[_Connection] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The address without `/v1`, which Anthropic's SDK expects."""
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait(_START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()
        self.close()

    def run(self) -> None:
        """Serve until the process is interrupted or told to end."""
        asyncio.run(self._serve(until_signal=True))

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    async def _serve(self, *, until_signal: bool = False) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        if until_signal:
            for each in _signals():
                with contextlib.suppress(NotImplementedError):  # Windows
                    self._loop.add_signal_handler(each, self._stop.set)
        server = await self._loop.create_server(
            lambda: _Connection(self, self._connections), sock=self._socket
        )
        self._ready.set()
        try:
            await self._stop.wait()
        finally:
            self.is_stopping = True
            server.close()
            tasks = [each.task for each in self._connections if each.task is not None]
            for connection in [*self._connections]:
                connection.abort()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._at_end is not None:
                await self._at_end()


def _signals() -> Iterator[signal.Signals]:
    """Yield the signals that end the server. Where `nohup` ignores the end of the terminal, it stays ignored."""
    yield from (signal.SIGINT, signal.SIGTERM)
    hangup = getattr(signal, "SIGHUP", None)  # not on Windows
    if hangup is not None and signal.getsignal(hangup) != signal.SIG_IGN:
        yield hangup


class _Connection(asyncio.Protocol):
    """One connection, with one request after the other."""

    def __init__(self, server: LocalServer, connections: set[_Connection]) -> None:
        self.task: asyncio.Task[None] | None = None
        self._server = server
        self._connections = connections
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)
        self._transport: asyncio.Transport = None  # type: ignore[assignment]  # set before anything else is called
        self._held = b""
        self._received = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to answer requests."""
        self._transport = transport
        # asyncio does this only for sockets that were made with a protocol; otherwise parts wait 40 ms for each other
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.add(self)
        self.task = asyncio.get_running_loop().create_task(self._answer_all())

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests."""
        self._unread.append(data)
        self._unread_bytes += len(data)
        if self._unread_bytes > _MOST_UNREAD:
            self._transport.pause_reading()
        self._received.set()

    def connection_lost(self, why: Exception | None) -> None:  # noqa: ARG002
        """Stop the handler: nobody waits for its answer."""
        self._connections.discard(self)
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        """Wait: the client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Continue."""
        self._writable.set()

    def hold(self, event: h11.Event) -> None:
        """Add an event to what is sent next."""
        self._held += self._http.send(event) or b""

    async def send(self, event: h11.Event) -> None:
        """Send an event and everything held before."""
        self.hold(event)
        self.flush()
        await self._writable.wait()

    def flush(self) -> None:
        """Send what is held."""
        if self._held:
            self._transport.write(self._held)
            self._held = b""

    def abort(self) -> None:
        """Close the connection now."""
        self._transport.abort()

    async def _answer_all(self) -> None:
        try:
            while await self._answer_one():
                pass
        except h11.RemoteProtocolError as why:
            await self._refuse(why)
        except (h11.LocalProtocolError, ConnectionError) as why:  # e.g. an answer shorter than it said
            log.debug("A connection ended: %r", why)
        except Exception:  # one connection must not end the others
            log.exception("A request could not be answered.")
        finally:
            self._transport.close()

    async def _answer_one(self) -> bool:
        """Answer a request; returns whether another one can follow."""
        event = await self._next_event()
        if not isinstance(event, h11.Request):
            return False
        request = Request(
            method=event.method.decode(),
            target=event.target.decode("latin-1"),
            headers=event.headers.raw_items(),
            body=self._body(),
        )
        answer = Answer(self)
        try:
            await self._server.handler(request, answer)
        except Exception:
            if answer.begun:
                self.abort()
            raise
        while self._http.their_state is h11.SEND_BODY and self._http.next_event() is not h11.NEED_DATA:
            pass  # what the handler did not read; a request without a body has an end, too
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def _body(self) -> AsyncIterator[bytes]:
        if self._http.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
        while isinstance(event := await self._next_event(), h11.Data):
            yield bytes(event.data)

    async def _next_event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            while not self._unread:
                self._received.clear()
                await self._received.wait()
            data = self._unread.popleft()
            self._unread_bytes -= len(data)
            if self._unread_bytes <= _MOST_UNREAD:
                self._transport.resume_reading()
            self._http.receive_data(data)
        return event

    async def _refuse(self, why: h11.RemoteProtocolError) -> None:
        """Answer something that is not a request of HTTP, if that is still possible."""
        if self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.abort()
            return
        status, text = why.error_status_hint, f"{why}\n".encode()
        headers = [(b"Content-Length", b"%d" % len(text)), (b"Connection", b"close")]
        self.hold(h11.Response(status_code=status, headers=headers, reason=_reason(status)))
        await self.send(h11.Data(data=text))
        await self.send(h11.EndOfMessage())


def _is_here(host: str) -> bool:
    return _PORT.sub("", host.lower()) in _HERE


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""
