"""The session, user and agent that spans name, by the attributes of the conventions."""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.drafts import agent_of
from timemachine.recording.otel.pure.span import Span

_SESSION: Final = (
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "mlflow.trace.session",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
)
_IN_METADATA: Final = ("thread_id", "session_id", "conversation_id")
_METADATA: Final = ("metadata", "langfuse.trace.metadata", "mlflow.traceMetadata")
_USER: Final = (
    "user.id",
    "enduser.id",
    "langfuse.user.id",
    "mlflow.trace.user",
    "traceloop.association.properties.user_id",
    "ai.telemetry.metadata.userId",
)
_NO_SERVICE: Final = "unknown_service"


def session_named(span: Span) -> str | None:
    """Return the session that the span names; its own attributes take precedence over its resource's."""
    for found in (span.attributes, span.resource):
        attributes = Attributes(found)
        named = attributes.text(*_SESSION) or _in_metadata(attributes)
        if named:
            return named
    return None


def agent_named(spans: Sequence[Span]) -> str | None:
    """Return the agent that the earliest of the spans names."""
    return _earliest(spans, lambda span: agent_of(Attributes(span.attributes)))


def user_named(spans: Sequence[Span]) -> str | None:
    """Return the user that the earliest of the spans names."""
    return _earliest(spans, lambda span: Attributes(span.attributes).text(*_USER))


def service_of(spans: Sequence[Span]) -> str | None:
    """Return the name of the service that sent the spans."""
    found = _earliest(spans, lambda span: Attributes(span.resource).text("service.name"))
    return None if found is None or found.startswith(_NO_SERVICE) else found


def root_of(spans: Sequence[Span]) -> Span | None:
    """Return the earliest span without a parent. Log records are never around anything."""
    return next((span for span in _in_time(spans) if span.parent is None and span.record is None), None)


def _earliest(spans: Sequence[Span], of: Any) -> str | None:
    return next((found for span in _in_time(spans) if (found := of(span))), None)


def _in_time(spans: Sequence[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.began, span.id))


def _in_metadata(attributes: Attributes) -> str | None:
    for name in _METADATA:
        found = attributes.value(name)
        if isinstance(found, dict) and (named := Attributes(found).text(*_IN_METADATA)):
            return named
    return None
