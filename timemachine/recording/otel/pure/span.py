"""One span, whole, in whichever encoding it came. Pure."""

from dataclasses import dataclass, field
from typing import Any

STATUS_ERROR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """Something that happened within a span; the time in nanoseconds since 1970."""

    name: str
    at: int
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span with what it stands in.

    Ids are lower-case hex of 32 and 16 digits; times are nanoseconds since 1970, 0 where there is none. Attributes are plain JSON
    values under their names, bytes as base64. `more` has what else the span said (`kind`, `links`, `traceState`, counts of what was dropped).
    """

    trace: str
    id: str
    parent: str | None
    name: str
    began: int
    ended: int
    attributes: dict[str, Any]
    events: tuple[SpanEvent, ...] = ()
    status: int = 0
    status_message: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    resource: dict[str, Any] = field(default_factory=dict)
    scope: dict[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> dict[str, Any]:
        """All that was sent of it, in one document: what is kept as the source of its action.

        But for its ids and its parent's, which are the action's own: where the source is erased, these stay, and the span is known again.
        """
        events = [{"name": each.name, "at": each.at, "attributes": each.attributes} for each in self.events]
        said = {
            "name": self.name,
            "start_time_unix_nano": self.began,
            "end_time_unix_nano": self.ended,
            "attributes": self.attributes,
            "events": events,
            "status": {"code": self.status, "message": self.status_message} if self.status else None,
            **self.more,
            "resource": self.resource,
            "scope": self.scope,
        }
        return {name: value for name, value in said.items() if value not in (None, {}, [])}
