"""The HTTP client for model servers: no redirects, limited responses, and optionally only public addresses.

A redirect would send the key and the prompt to an unchecked address. A pinned client resolves each name itself, refuses
addresses that are not public, and connects to exactly the one it checked, so that a name cannot change its meaning
between.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, cast

import httpx2

from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.addresses import IPAddress, addresses_of, is_never_allowed, is_public
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.llm.pure.catalogue import Connection

LONGEST_ANSWER = 32 * 1024 * 1024
"""The most bytes of a response; a longer one is a failure."""
CONNECT_SECONDS = 10.0

_NO_KEEPALIVE = httpx2.Limits(max_keepalive_connections=0)
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")
_SENDS_QUESTION = ".send_request_body.started"

_cancellation: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def http_client(*, pinned: bool) -> httpx2.Client:
    """Return the client of this process, `pinned` for servers that an administrator of a project added. Thread-safe."""
    return _client(pinned=pinned, process=os.getpid())


def bearer(connection: Connection) -> dict[str, str]:
    """Return the header with the key, or none for a server without keys."""
    return {"Authorization": f"Bearer {connection.api_key}"} if connection.api_key else {}


def timeout(seconds: float) -> httpx2.Timeout:
    """Limit how long a server can be silent; connecting takes at most ten seconds."""
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


@contextmanager
def attempting(seconds: float, cancellation: Cancellation) -> Iterator[None]:
    """Limit requests that this thread sends in the block: the response must be complete in time, and can be cancelled."""
    cancelled = _cancellation.set(cancellation)
    try:
        with cancellation.watching(seconds):
            yield
    finally:
        _cancellation.reset(cancelled)


@cache
def _client(*, pinned: bool, process: int) -> httpx2.Client:  # noqa: ARG001 (a fork must not share its parent's sockets)
    return httpx2.Client(
        follow_redirects=False,
        transport=PinnedTransport() if pinned else None,
        # no keep-alive: if a reused connection turns out to be closed, the call may or may not have been billed
        limits=_NO_KEEPALIVE,
        # the limit counts received bytes, so they must not be compressed
        headers={"accept-encoding": "identity"},
        event_hooks={"request": [_watch], "response": [_bound]},
    )


class PinnedTransport(httpx2.BaseTransport):
    """Connects only to public addresses, exactly those that were checked."""

    def __init__(self) -> None:
        # no keep-alive: a connection to an address would be reused for another name at the same address
        self._inner = httpx2.HTTPTransport(limits=_NO_KEEPALIVE)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first address of the host that accepts. TLS is checked for the host's name."""
        *others, last = _public_addresses(request.url)
        for address in others:
            try:
                return self._inner.handle_request(_addressed(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                cancellation = _cancellation.get()
                if cancellation is not None and (cancellation.requested or cancellation.out_of_time):
                    raise
        return self._inner.handle_request(_addressed(request, last))

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > LONGEST_ANSWER:
                raise ModelFailed(
                    f"The answer is longer than {LONGEST_ANSWER} bytes. Request fewer tokens.",
                    code="answer_too_long",
                    retryable=False,
                )
            yield part

    def close(self) -> None:
        self._stream.close()


def _watch(request: httpx2.Request) -> None:
    cancellation = _cancellation.get()
    if cancellation is None:
        return

    def trace(event: str, facts: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            cancellation.connected(facts["return_value"].get_extra_info("socket"))
        elif event.endswith(_SENDS_QUESTION):
            cancellation.sending()

    request.extensions["trace"] = trace


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelFailed(
            "The server compresses its responses even though the request forbids it. Turn compression off.",
            retryable=False,
        )
    response.stream = _Bounded(cast("httpx2.SyncByteStream", response.stream))


def _public_addresses(url: httpx2.URL) -> list[str]:
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = addresses_of(url.host, port)
    except InvalidInput as why:
        raise httpx2.ConnectError(why.message) from why
    for address in found:
        if not is_public(address):
            raise _not_allowed(address)
    return [str(address) for address in found]


def _not_allowed(address: IPAddress) -> ModelFailed:
    if is_never_allowed(address):
        words = (
            "The server's name resolves to a link-local or metadata address, which is never called. Enter the address of a "
            "model server."
        )
    else:
        words = (
            "The server's name resolves to an address that is not on the public internet. The operator of this "
            "server can allow it by listing that host in MODEL_HOSTS_ALLOWED."
        )
    return ModelFailed(words, code="address_not_allowed", retryable=False)


def _addressed(request: httpx2.Request, address: str) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
