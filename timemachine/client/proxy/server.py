"""The proxy: forwards requests to providers, byte by byte, and records the calls of models."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator
from typing import Final

import httpx

from timemachine.client.local_server import Answer, LocalServer, Request
from timemachine.client.playback.pure.apis import CHAT, MESSAGES
from timemachine.client.proxy.pure.endpoints import Endpoint, endpoint_of
from timemachine.client.proxy.pure.exchange import Exchange
from timemachine.client.proxy.pure.headers import Caller, forwarded
from timemachine.client.proxy.recording import CallRecorder
from timemachine.client.proxy.upstream import Provider, Providers, Upstream
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import MEDIA_TYPE

log = logging.getLogger(__name__)

_FORBIDDEN, _NOT_IMPLEMENTED, _BAD_GATEWAY = 403, 501, 502
_LAST_EVENT: Final = re.compile(
    rb"(?:^|[\r\n])(?:data: ?\[DONE\]|event: ?message_stop|event: ?response\.(?:completed|incomplete|failed))"
)
"""The beginning of the event with which a program knows that the answer is complete."""
NOTED_SECONDS: Final = 1.0
"""After so long a call is stored before it ends; sooner, that would delay its first token."""
_END_OF_EVENT: Final = re.compile(rb"\r?\n\r?\n")
_LONGEST_BEGINNING: Final = 40
_FAULTS: Final = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)


class ProxyServer:
    """Forwards what it receives on a port of the loopback. Without a recorder nothing is recorded."""

    def __init__(self, recorder: CallRecorder, *, port: int = 0) -> None:
        self.providers = Providers()
        self._upstream = Upstream()
        self.server = LocalServer(self._handle, port=port, at_end=self._upstream.close)
        self._recorder = recorder

    async def _handle(self, request: Request, answer: Answer) -> None:
        refused = self._refusal(request)
        if refused is not None:
            await _send_error(request, answer, *refused)
            return
        if request.path == "/" and request.method in ("GET", "HEAD"):
            await _send_json(answer, 200, self._state(), with_body=request.method == "GET")
            return
        endpoint = endpoint_of(request.method, request.path)
        provider, url = self.providers.of_request(request)
        if endpoint is None:
            await self._pass_on(request, answer, url)
        else:
            await _Call(self, self._upstream, self._recorder, request, answer, endpoint, provider).run(url)

    def _refusal(self, request: Request) -> tuple[int, str] | None:
        if not request.names_this_machine:
            return _FORBIDDEN, f"The proxy answers only at {self.server.url}."
        if request.is_of_foreign_page:
            return _FORBIDDEN, "The proxy does not accept requests from pages of other sites."
        if request.header("upgrade") is not None:
            return _NOT_IMPLEMENTED, "The proxy does not forward WebSockets. Use HTTP."
        if request.method == "CONNECT" or not request.target.startswith("/"):
            return _NOT_IMPLEMENTED, f"This is not an HTTP proxy. Use {self.server.url} as the base URL."
        return None

    def _state(self) -> JsonObject:
        return {
            "session": self._recorder.key,
            "calls": self._recorder.calls,
            "lost": self._recorder.lost,
            "running": len(self._recorder.running),
            "openai": self.providers.openai.url,
            "anthropic": self.providers.anthropic.url,
        }

    async def _pass_on(self, request: Request, answer: Answer, url: str) -> None:
        """Forward a request that is not recorded."""
        has_body = request.header("content-length") or request.header("transfer-encoding")
        try:
            async with self._upstream.sent(
                request, url, request.body if has_body else None, recorded=False
            ) as response:
                answer.begin(response.status_code, _headers_of(response), _reason_of(response))
                async for part in response.aiter_raw():
                    await answer.send(part)
                await answer.end()
        except _FAULTS as why:
            if answer.begun:
                answer.abort()
            else:
                await _send_error(request, answer, _BAD_GATEWAY, unreachable(url, why))


class _Call:
    """One call that is recorded while it passes."""

    def __init__(
        self,
        proxy: ProxyServer,
        upstream: Upstream,
        recorder: CallRecorder,
        request: Request,
        answer: Answer,
        endpoint: Endpoint,
        provider: Provider,
    ) -> None:
        self._proxy, self._upstream, self._recorder = proxy, upstream, recorder
        self._request, self._answer = request, answer
        self._began = time.perf_counter()
        self._is_recorded = False
        self._noted: asyncio.TimerHandle | None = None
        self.exchange = Exchange(
            endpoint=endpoint,
            provider=provider.name,
            caller=Caller.of(request.headers, request.query),
            started_at=time.time_ns(),
        )
        self.exchange.request.encoding = request.header("content-encoding")

    async def run(self, url: str) -> None:
        """Forward the request and the response, and record both, whatever happens."""
        try:
            await self._forward(url)
        except asyncio.CancelledError:  # the program disconnected, or the proxy stops
            self._record_now("proxy_stopped" if self._proxy.server.is_stopping else "client_disconnected")
            raise

    async def _forward(self, url: str) -> None:
        body = await self._body()
        self._noted = asyncio.get_running_loop().call_later(NOTED_SECONDS, self._recorder.note, self.exchange)
        try:
            async with self._upstream.sent(self._request, url, body, recorded=True) as response:
                self._begin(response)
                await self._pass_response(response)
        except _FAULTS as why:
            self.exchange.outcome = "provider_failed"
            if self._answer.begun:
                await self._recorded()
                self._answer.abort()
                return
            self.exchange.why = unreachable(url, why)
            await self._recorded()
            await _send_error(self._request, self._answer, _BAD_GATEWAY, self.exchange.why)

    def _begin(self, response: httpx.Response) -> None:
        found = self.exchange
        found.status = response.status_code
        found.content_type = response.headers.get("content-type", "")
        found.request_id = response.headers.get("x-request-id") or response.headers.get("request-id")
        found.response.encoding = response.headers.get("content-encoding")
        session = self._recorder.key_of(found.caller).encode("ascii", "replace")
        headers = [*_headers_of(response), (b"Timemachine-Session", session)]
        self._answer.begin(response.status_code, headers, _reason_of(response))

    async def _body(self) -> bytes | AsyncIterator[bytes]:
        """Return the body of the request; if it is too large to be recorded, as it comes."""
        body = self.exchange.request
        async for part in self._request.body:
            body.add(self._now(), part)
            if not body.is_whole:
                return self._rest(part)
        return b"".join(part for _, part in body.parts)

    async def _rest(self, part: bytes) -> AsyncIterator[bytes]:
        begun, self.exchange.request.parts = self.exchange.request.parts, []
        for _, each in begun:
            yield each
        yield part
        async for each in self._request.body:
            self.exchange.request.size += len(each)
            yield each

    async def _pass_response(self, response: httpx.Response) -> None:
        """Send the response on. Its end is sent when the call is recorded, so that what a program has is in the record."""
        is_stream = self.exchange.content_type.lower().startswith(MEDIA_TYPE)
        gate = _EndOfStream() if is_stream else _LastPart()
        if is_stream:
            self._answer.flush()
        async for part in response.aiter_raw():
            self.exchange.response.add(self._now(), part)
            for each in gate.passed(part):
                await self._answer.send(each)
            if gate.is_at_end:
                await self._recorded()
                for each in gate.rest():
                    await self._answer.send(each)
        await self._recorded()
        for each in gate.rest():
            await self._answer.send(each)
        await self._answer.end()

    async def _recorded(self) -> None:
        """Record the call as it is now, once, and wait until it is in the spool."""
        if self._is_first():
            self.exchange.took = self._now()
            await self._recorder.recorded(self.exchange)

    def _record_now(self, outcome: str) -> None:
        if self._is_first():
            self.exchange.outcome = outcome  # type: ignore[assignment]  # one of its words
            self.exchange.took = self._now()
            self._recorder.record(self.exchange)

    def _is_first(self) -> bool:
        """Return whether the call is not recorded yet; then its record is made now."""
        if self._noted is not None:
            self._noted.cancel()
        was_recorded, self._is_recorded = self._is_recorded, True
        return not was_recorded

    def _now(self) -> float:
        return time.perf_counter() - self._began


class _LastPart:
    """Holds back the last part of a body that is not a stream."""

    is_at_end = False

    def __init__(self) -> None:
        self._held = b""

    def passed(self, part: bytes) -> list[bytes]:
        """Return what can be sent now that this part has come."""
        held, self._held = self._held, part
        return [held] if held else []

    def rest(self) -> list[bytes]:
        """Return what was held back."""
        return self.passed(b"")


class _EndOfStream:
    """Holds back the last event of a stream; all others pass immediately. `is_at_end` when that event is complete."""

    def __init__(self) -> None:
        self.is_at_end = False
        self._tail = b""
        self._held: list[bytes] = []

    def passed(self, part: bytes) -> list[bytes]:
        """Return what can be sent now that this part has come."""
        if self.is_at_end:
            return [part]
        if self._held:
            self._held.append(part)
            self.is_at_end = _END_OF_EVENT.search(self._held[-2][-3:] + part) is not None
            return []
        seen = self._tail + part
        found = _LAST_EVENT.search(seen)
        if found is None:
            self._tail = seen[-_LONGEST_BEGINNING:]
            return [part]
        self._held.append(part)
        self.is_at_end = _END_OF_EVENT.search(seen, found.end()) is not None
        return []

    def rest(self) -> list[bytes]:
        """Return what was held back."""
        held, self._held = self._held, []
        return held


def _headers_of(response: httpx.Response) -> list[tuple[bytes, bytes]]:
    return forwarded(response.headers.raw)


def _reason_of(response: httpx.Response) -> bytes:
    reason = response.extensions.get("reason_phrase", b"")
    return reason if isinstance(reason, bytes) else b""


def unreachable(url: str, why: Exception) -> str:
    """Return why a provider did not answer, without the query of its URL, which can have a key."""
    return f"{url.partition('?')[0]} did not respond: {why or type(why).__name__}"


async def _send_error(request: Request, answer: Answer, status: int, message: str) -> None:
    is_anthropic = request.header("anthropic-version") is not None
    api = MESSAGES if is_anthropic else CHAT
    await _send_json(answer, status, api.error(status, message, {}))


async def _send_json(answer: Answer, status: int, value: JsonObject, *, with_body: bool = True) -> None:
    content = json.dumps(value).encode()
    headers = [(b"Content-Type", b"application/json"), (b"Content-Length", b"%d" % len(content))]
    answer.begin(status, headers)
    if with_body:
        await answer.send(content)
    await answer.end()
