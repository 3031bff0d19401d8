"""A span, independent of its encoding."""

from dataclasses import dataclass, field

from timemachine.core.pure.json_types import JsonObject

STATUS_ERROR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """An event within a span; `at` is in nanoseconds since 1970."""

    name: str
    at: int
    attributes: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span with its resource and scope.

    Ids are lower-case hex with 32 and 16 digits. Times are nanoseconds since 1970, 0 if not stated. Attributes are
    plain JSON values by name, bytes as base64. `more` has the other fields (`kind`, `links`, `traceState`, counts of
    what was dropped). A log record is read as a span: `record` is its number among those of its sender, 0 if it has none,
    and None for a span.
    """

    trace: str
    id: str
    parent: str | None
    name: str
    began: int
    ended: int
    attributes: JsonObject
    events: tuple[SpanEvent, ...] = ()
    status: int = 0
    status_message: str = ""
    more: JsonObject = field(default_factory=dict)
    resource: JsonObject = field(default_factory=dict)
    scope: JsonObject = field(default_factory=dict)
    record: int | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        """Return the key by which spans are in the order in which they began, parents before children that began at the same
        time."""
        return self.began, -self.ended, self.record or 0

    @property
    def document(self) -> JsonObject:
        """Return everything that was sent in one document, which becomes the source of the action.

        The span's id and its parent's are left out: they are the action's own, so that the span is recognised again
        after its source was erased.
        """
        events = [{"name": each.name, "at": each.at, "attributes": each.attributes} for each in self.events]
        fields = {
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
        return {name: value for name, value in fields.items() if value not in (None, {}, [])}
