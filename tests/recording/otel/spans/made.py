"""Sample spans."""

from typing import Any

from timemachine.recording.otel.pure.span import Span, SpanEvent

TRACE, ID, PARENT = "a" * 32, "b" * 16, "c" * 16
BEGAN = 1_760_000_000_000_000_000


def span(attributes: dict[str, Any] | None = None, **more: Any) -> Span:
    facts: dict[str, Any] = {
        "trace": TRACE,
        "id": ID,
        "parent": PARENT,
        "name": "work",
        "began": BEGAN,
        "ended": BEGAN + 1_500_000,
    }
    return Span(**facts | {"attributes": attributes or {}} | more)


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, at=1, attributes=attributes)
