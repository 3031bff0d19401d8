"""Read log records of agents as spans.

These are the events of Claude Code, and events of the GenAI conventions, which older instrumentations send per message. A record
of Claude Code becomes a span of its own, inside the span that it names. An event of the conventions belongs to the span that it
names: it becomes a span inside it that has only this event. The id is the hash of the record, so that a record which is sent
again is recognised.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure import session_identity
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.claude_code import PREFIX, SCOPE
from timemachine.recording.otel.pure.decoding import LATEST, LONGEST_NAME, Refused, is_span_id, is_trace_id
from timemachine.recording.otel.pure.messages import GEN_AI
from timemachine.recording.otel.pure.span import Span, SpanEvent

LEFT_OUT: Final = "It is neither a Claude Code event nor a GenAI event."
_EVENT_NAME: Final = "event.name"
_KEPT: Final = ("gen_ai.conversation.id", "gen_ai.agent.name", "gen_ai.agent.id")
"""What an event of the conventions says about its session."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A log record, independent of its encoding; ids are hex, empty without one, and times nanoseconds since 1970."""

    trace: str
    span: str
    at: int
    observed_at: int
    name: str
    severity: str
    body: Any
    attributes: JsonObject
    resource: JsonObject
    scope: JsonObject


def span_of(record: LogRecord, place: int) -> Span | Refused:
    """Return the record as a span. `place` is its place in the request, from 1."""
    name = _name_of(record)
    label = _label(name, place)
    if name is None:
        return Refused(span=label, reason=LEFT_OUT)
    trace, parent = record.trace.strip("0") and record.trace, record.span.strip("0") and record.span
    if trace and not is_trace_id(trace):
        return Refused(span=label, reason="Its trace ID must be 16 bytes.")
    if parent and not is_span_id(parent):
        return Refused(span=label, reason="Its span ID must be 8 bytes.")
    at = _time_of(record)
    if not 0 <= at <= LATEST:
        return Refused(span=label, reason="Its time must be before the year 2262.")
    span = _span(record, name, at, parent=(trace and parent) or None)
    session = session_identity.session_named(span)
    if not trace and session is None:
        return Refused(span=label, reason="It does not name a session or a trace.")
    return _identified(span, trace, session)


def _name_of(record: LogRecord) -> str | None:
    """Return the name of the event; None if it is not one of an agent. Claude Code also writes it without its prefix."""
    stated = (record.name, record.body, record.attributes.get(_EVENT_NAME))
    names = [each for each in stated if isinstance(each, str) and each and len(each) <= LONGEST_NAME]
    whole = next((each for each in names if each.startswith((PREFIX, GEN_AI)) and not each.count(" ")), None)
    if whole is None and names and str(record.scope.get("name")).startswith(SCOPE):
        return PREFIX + names[-1]
    return whole


def _label(name: str | None, place: int) -> str:
    return f"Log record {place:,} of the request" if name is None else f"The log record {place:,}, “{name}”"


def _time_of(record: LogRecord) -> int:
    if record.at:
        return record.at
    try:
        stated = datetime.fromisoformat(str(record.attributes.get("event.timestamp")))
    except ValueError:
        return record.observed_at
    since = (stated if stated.tzinfo else stated.replace(tzinfo=UTC)) - _EPOCH
    return max(since // timedelta(microseconds=1), 0) * 1000 or record.observed_at


def _span(record: LogRecord, name: str, at: int, *, parent: str | None) -> Span:
    """Return the span of a record without ids of its own."""
    attributes = record.attributes
    events: tuple[SpanEvent, ...] = ()
    if name.startswith(GEN_AI):
        attributes, events = _of_convention(record, name, at, is_inside=parent is not None)
    lasted = _duration(record.attributes, at)
    more = {
        "observed_time_unix_nano": record.observed_at or None,
        "severity": record.severity or None,
        "body": record.body if not events and record.body != name else None,
    }
    return Span(
        trace="",
        id="",
        parent=parent,
        name=name,
        began=at - (lasted or 0),
        ended=0 if lasted is None else at,
        attributes=attributes,
        events=events,
        more={key: value for key, value in more.items() if value is not None},
        resource=record.resource,
        scope=record.scope,
        record=Attributes(record.attributes).whole_number("event.sequence") or 0,
    )


def _of_convention(
    record: LogRecord, name: str, at: int, *, is_inside: bool
) -> tuple[JsonObject, tuple[SpanEvent, ...]]:
    """Return the attributes of a span for an event of the conventions, and the event. Inside another span, it does not repeat
    what that one is: a call, its model and its tokens."""
    told = {key: value for key, value in record.attributes.items() if key.startswith(GEN_AI)}
    rest = {key: value for key, value in record.attributes.items() if key not in told or key in _KEPT}
    if isinstance(record.body, dict):
        told |= record.body
    elif record.body not in (None, "", name):
        told["content"] = record.body
    event = SpanEvent(name=name, at=at, attributes=told)
    return (rest if is_inside else record.attributes), (event,)


def _duration(attributes: JsonObject, at: int) -> int | None:
    """Return the nanoseconds that ended with the record, None if it states none."""
    stated = Attributes(attributes).number("duration_ms")
    lasted = None if stated is None else int(stated * 1_000_000)
    return lasted if lasted is not None and 0 <= lasted <= at else None


def _identified(span: Span, trace: str, session: str | None) -> Span:
    """Return the span with its id, in its trace or in one for its session."""
    events = [[each.name, each.at, each.attributes] for each in span.events]
    said = [span.name, span.began, span.ended, span.attributes, events, span.more.get("body")]
    written = canonical_json([trace, span.parent, session, *said])
    return replace(
        span,
        trace=trace or sha256_hex(canonical_json(["session", session]))[:_TRACE_DIGITS],
        id=sha256_hex(written)[:_SPAN_DIGITS],
    )
