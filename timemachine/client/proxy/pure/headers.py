"""Which headers go through the proxy, and what it learns from them."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.secret_names import SECRET_NAME

OURS: Final = "timemachine-"
"""Headers that begin so are for the proxy, and are not forwarded."""
SESSION: Final = "timemachine-session"
_OF_ONE_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
    }
    | {"transfer-encoding", "upgrade", "expect", "host"}
)
"""RFC 9110, 7.6.1. The HTTP client writes the host."""
READABLE: Final = ("gzip", "deflate", "zstd", "identity")
"""The encodings of bodies that the proxy can read."""
_CREDENTIALS: Final = ("authorization", "x-api-key", "api-key")
_RETRY_ID: Final = "idempotency-key"
_SHORTEST_SECRET: Final = 8
_PARENT: Final = re.compile(r"(.+):([1-9]\d{0,8})")
_HASH: Final = 12

type Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the headers of a request say about its session. `secrets` are the credentials in it, which are never recorded.

    `retry` is how often the SDK had tried before.
    """

    session: str | None = None
    name: str | None = None
    agent: str | None = None
    user: str | None = None
    parent: str | None = None
    retry: int = 0
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, headers: Headers, query: str = "") -> "Caller":
        """Read the headers, and the credentials in the query of the address."""
        found = {name.lower().decode("latin-1"): _text(value) for name, value in headers}
        retry = found.get("x-stainless-retry-count") or ""
        named = {**dict.fromkeys(_CREDENTIALS, ""), **found, **dict(parse_qsl(query, encoding="latin-1"))}
        secrets = (
            value.rpartition(" ")[2]
            for name, value in named.items()
            if SECRET_NAME.search(name) and name != _RETRY_ID and not name.startswith(OURS)
        )
        return cls(
            **{name: found.get(OURS + name) or None for name in ("session", "agent", "user", "parent")},
            name=found.get(f"{OURS}session-name") or None,
            retry=int(retry) if retry.isdecimal() and len(retry) < _SHORTEST_SECRET else 0,
            secrets=tuple(each for each in secrets if len(each) >= _SHORTEST_SECRET),
        )

    @property
    def key_hash(self) -> str | None:
        """The beginning of the SHA-256 of the API key, None without one."""
        return hashlib.sha256(self.secrets[0].encode()).hexdigest()[:_HASH] if self.secrets else None

    @property
    def parent_session(self) -> JsonObject | None:
        """The session and the step that this one continues, as `SESSION:STEP`; a session alone has no step."""
        if self.parent is None:
            return None
        found = _PARENT.fullmatch(self.parent)
        return {"session": self.parent} if found is None else {"session": found[1], "sequence": int(found[2])}


def forwarded(headers: Iterable[tuple[bytes, bytes]], *, recorded: bool = False) -> list[tuple[bytes, bytes]]:
    """Return the headers that go on. If it is `recorded`, the provider may compress only in ways that the proxy can read."""
    headers = list(headers)
    named = {
        each.strip()
        for name, value in headers
        if name.lower() == b"connection"
        for each in _text(value).lower().split(",")
    }
    found = []
    for name, value in headers:
        lower = name.lower().decode("latin-1")
        if lower in _OF_ONE_HOP or lower in named or lower.startswith(OURS):
            continue
        is_limited = recorded and lower == "accept-encoding"
        found.append((name, _readable(_text(value)).encode() if is_limited else value))
    return found


def _readable(accepted: str) -> str:
    """Return the accepted encodings that can be read, `identity` if none can."""
    parts = [each.strip() for each in accepted.split(",")]
    return (
        ", ".join(each for each in parts if each.partition(";")[0].strip().lower() in READABLE) or "identity"
    )


def _text(value: bytes) -> str:
    return value.decode("latin-1").strip()
