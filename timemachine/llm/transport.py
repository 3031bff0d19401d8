"""The HTTP client under the vendors' clients: it follows no redirect, reads no endless answer, and can hold to public addresses.

A redirect would carry the key and the prompt to an address that nobody checked. A pinned client resolves each name itself,
refuses what is not public, and connects to exactly what it checked, so that a name cannot change its meaning in between.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, cast

import httpx2

from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.addresses import IPAddress, addresses_of, is_never_allowed, is_public
from timemachine.llm.pure.cancellation import Cancellation

LONGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer; a longer one is a failure."""
CONNECT_SECONDS = 10.0

# What a model server needs. The vendors' clients also send what machine they run on, and any header that the operator's
# environment holds for their own service (OPENAI_CUSTOM_HEADERS), which is not every server's business.
_SENT_HEADERS = frozenset(
    {
        *("host", "connection", "user-agent", "accept", "accept-encoding", "content-type", "content-length"),
        *("authorization", "anthropic-version", "openai-organization", "openai-project"),
    }
)


_NONE_KEPT = httpx2.Limits(max_keepalive_connections=0)
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")
_SENDS_QUESTION = ".send_request_body.started"

_cancellation: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def http_client(*, pinned: bool) -> httpx2.Client:
    """The client of this process: `pinned` for servers that a project's administrator added. Safe to share between threads."""
    return _client(pinned=pinned, process=os.getpid())


def timeout(seconds: float) -> httpx2.Timeout:
    """How long a server may be silent; to connect it has ten seconds at most."""
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


@contextmanager
def attempting(seconds: float, cancellation: Cancellation) -> Iterator[None]:
    """What this thread sends meanwhile is answered within so many seconds, head and body, or until it is cancelled."""
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
        # no connection is kept: a call whose kept connection turns out to be closed may have been billed or not
        limits=_NONE_KEPT,
        # the limit counts what arrives, so nothing may swell when unpacked
        headers={"accept-encoding": "identity"},
        event_hooks={"request": [_send_only_what_is_needed, _watch], "response": [_bound]},
    )


class PinnedTransport(httpx2.BaseTransport):
    """Connects only to public addresses, and to those that were checked."""

    def __init__(self) -> None:
        # no connection is kept: one kept for an address would serve another name at the same address
        self._inner = httpx2.HTTPTransport(limits=_NONE_KEPT)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first of the host's addresses that accepts; TLS is checked for the host's name."""
        *others, last = _public_addresses(request.url)
        for address in others:
            try:
                return self._inner.handle_request(_addressed(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if _is_over():
                    raise
        return self._inner.handle_request(_addressed(request, last))

    def close(self) -> None:
        """Close what is open."""
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
                    f"The answer is longer than {LONGEST_ANSWER} bytes; ask for fewer tokens.",
                    code="answer_too_long",
                    retryable=False,
                )
            yield part

    def close(self) -> None:
        self._stream.close()


def _is_over() -> bool:
    cancellation = _cancellation.get()
    return cancellation is not None and (cancellation.wanted or cancellation.out_of_time)


def _send_only_what_is_needed(request: httpx2.Request) -> None:
    for name in list(request.headers):
        if name.lower() not in _SENT_HEADERS:
            del request.headers[name]


def _watch(request: httpx2.Request) -> None:
    cancellation = _cancellation.get()
    if cancellation is None:
        return

    def trace(event: str, facts: dict[str, Any]) -> None:
        if event in _CONNECTED:
            cancellation.connected(facts["return_value"].get_extra_info("socket"))
        elif event.endswith(_SENDS_QUESTION):
            cancellation.sending()

    request.extensions["trace"] = trace


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelFailed(
            "The server compresses its answers although it was asked not to; switch that off.",
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
            "The name of its server leads to a link-local or metadata address, which is never called. Give the address of a "
            "model server."
        )
    else:
        words = (
            "The name of its server leads to an address that is not on the public internet. The operator of this "
            "server can allow it by naming that host in MODEL_HOSTS_ALLOWED."
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
