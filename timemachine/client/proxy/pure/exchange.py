"""One call as it passed the proxy: the bytes of its request and of its response, and when they came."""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from timemachine.client.proxy.pure.bodies import MOST_BYTES
from timemachine.client.proxy.pure.endpoints import Endpoint
from timemachine.client.proxy.pure.headers import Caller

Outcome = Literal["complete", "client_disconnected", "provider_failed", "proxy_stopped", "interrupted"]
FAILURES: Final[dict[str, str]] = {
    "client_disconnected": "The program closed the connection before the answer was complete.",
    "provider_failed": "The provider closed the connection before the answer was complete.",
    "proxy_stopped": "The proxy was stopped before the answer was complete.",
    "interrupted": "The proxy was killed before the answer was complete. The part that had arrived was not recorded.",
}


@dataclass(slots=True)
class Body:
    """A body as it passes, in parts, each with the seconds since the call began. Parts beyond the limit are only counted."""

    encoding: str | None = None
    parts: list[tuple[float, bytes]] = field(default_factory=list, repr=False)
    size: int = 0
    kept: int = 0

    def add(self, at: float, part: bytes) -> None:
        """Add a part that came at this time."""
        self.size += len(part)
        if self.size <= MOST_BYTES:
            self.parts.append((at, part))
            self.kept += len(part)

    @property
    def is_whole(self) -> bool:
        """Whether all of it was kept."""
        return self.kept == self.size


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A call. `provider` is that of the address, None if that is not known; `started_at` is in nanoseconds since 1970.

    `status` is None if no response came; `why` says then what went wrong. `id` is that of its step, if it has one already, and
    `noted` its number among the running calls.
    """

    endpoint: Endpoint
    provider: str | None
    caller: Caller
    started_at: int
    request: Body = field(default_factory=Body)
    status: int | None = None
    content_type: str = ""
    request_id: str | None = None
    response: Body = field(default_factory=Body)
    took: float = 0.0
    outcome: Outcome = "complete"
    why: str | None = None
    id: str | None = None
    noted: int | None = None

    def unanswered(self) -> "Exchange":
        """Return the call as it is if the proxy is killed now."""
        return replace(self, outcome="interrupted", response=Body(), status=None, content_type="", took=0.0)

    @property
    def ended_at(self) -> int:
        """When the last byte came, in nanoseconds since 1970."""
        return self.started_at + round(self.took * 1e9)
