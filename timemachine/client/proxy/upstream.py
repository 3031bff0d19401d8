"""The model providers behind the proxy: their addresses, and requests to them."""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx

from timemachine.client.errors import ClientError
from timemachine.client.local_server import Request
from timemachine.client.proxy.pure.endpoints import MESSAGES, provider_of
from timemachine.client.proxy.pure.headers import forwarded

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"
_CONNECT_SECONDS: Final = 15.0
_IDLE_SECONDS: Final = 30.0
_MOST_IDLE: Final = 200
_KEEP_ALIVE: Final = httpx.Limits(
    max_connections=1, max_keepalive_connections=1, keepalive_expiry=_IDLE_SECONDS
)
_TIMEOUT: Final = httpx.Timeout(None, connect=_CONNECT_SECONDS)
"""A model may be silent for as long as its caller waits."""
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider: the URL that its SDK would use, and its name, None if nothing says who it is."""

    url: str
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """The providers of requests in OpenAI's and in Anthropic's form."""

    openai: Provider = field(default=Provider(url=OPENAI_URL, name="openai"))
    anthropic: Provider = field(default=Provider(url=ANTHROPIC_URL, name="anthropic"))

    @classmethod
    def of(
        cls,
        *,
        openai: str | None,
        anthropic: str | None,
        name: str | None,
        own_port: int,
        environment: Mapping[str, str] = os.environ,
    ) -> Providers:
        """Return the providers at these URLs, else at those that the variables of the SDKs name, else the vendors' own.

        A variable that leads to the proxy itself is meant for the program. Raises `ClientError` for anything but a URL.
        """
        found = []
        for given, variable, usual in (
            (openai, "OPENAI_BASE_URL", OPENAI_URL),
            (anthropic, "ANTHROPIC_BASE_URL", ANTHROPIC_URL),
        ):
            stated = environment.get(variable, "").strip()
            url = given or (stated if stated and not _is_own(stated, own_port) else usual)
            found.append(_checked(url, own_port))
        first, second = found
        return cls(
            openai=Provider(url=first, name=name or provider_of(first)),
            anthropic=Provider(url=second, name=provider_of(second)),
        )

    def of_request(self, request: Request) -> tuple[Provider, str]:
        """Return the provider of a request, and the URL that it goes to."""
        plain = request.path.removeprefix("/v1")
        is_anthropic = (
            plain.startswith(MESSAGES.path)
            or request.header("anthropic-version") is not None
            or request.header("x-api-key") is not None
        )
        query = f"?{request.query}" if request.query else ""
        if is_anthropic:
            return self.anthropic, f"{self.anthropic.url}/v1{plain}{query}"
        return self.openai, f"{self.openai.url}{plain}{query}"


@dataclass(frozen=True, slots=True)
class _Idle:
    """The client of a connection that waits for the next request, and since when."""

    client: httpx.AsyncClient
    since: float


class Upstream:
    """Sends requests to providers, with the connections that it keeps. HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE apply.

    Each connection has a client of its own: the pool of one client looks at all of its connections for each request that
    begins or ends, which takes seconds when hundreds begin together.
    """

    def __init__(self) -> None:
        self._tls = httpx.create_ssl_context()
        self._idle: defaultdict[tuple[str, str], deque[_Idle]] = defaultdict(deque)

    @asynccontextmanager
    async def sent(
        self, request: Request, url: str, body: bytes | AsyncIterator[bytes] | None, *, recorded: bool
    ) -> AsyncIterator[httpx.Response]:
        """Send a request and yield its response, whose body is not read yet. Raises `httpx.HTTPError`, `httpx.InvalidURL`."""
        headers = forwarded(request.headers, recorded=recorded)
        sent = httpx.Request(
            request.method, url, headers=headers, content=body
        )  # adds no header but Host and the length
        idle = self._idle[urlsplit(url)[:2]]
        client = idle.pop().client if idle else self._new_client()
        try:
            async with aclosing(await client.send(sent, stream=True)) as response:
                yield response
        finally:
            idle.append(_Idle(client, time.monotonic()))
            await self._close_old(idle)

    def _new_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=_TIMEOUT, limits=_KEEP_ALIVE, verify=self._tls)

    async def _close_old(self, idle: deque[_Idle]) -> None:
        """Close connections that were not used for long, and the oldest if there are too many."""
        long_ago = time.monotonic() - _IDLE_SECONDS
        while idle and (idle[0].since < long_ago or len(idle) > _MOST_IDLE):
            await idle.popleft().client.aclose()

    async def close(self) -> None:
        """Close all connections."""
        for idle in self._idle.values():
            while idle:
                await idle.pop().client.aclose()


def _is_own(url: str, port: int) -> bool:
    try:
        parts = urlsplit(url)
        place = parts.hostname, parts.port
    except ValueError:
        return False
    return place[0] in _LOCAL and place[1] == port


def _checked(url: str, own_port: int) -> str:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parts.query or parts.fragment or parts.username:
        raise ClientError(f"{url[:200]!r} is not the URL of a provider. Write one like {OPENAI_URL}.")
    if _is_own(url, own_port):
        raise ClientError(f"{url} is the address of the proxy itself. Enter the provider's URL.")
    return url.rstrip("/")
