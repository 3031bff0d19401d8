"""Decode OTLP/HTTP bodies into spans: `ExportTraceServiceRequest` as protobuf or JSON (opentelemetry-proto 1.x).

A span that cannot be read is refused on its own; a body that cannot be read raises `InvalidInput`. The spans of a
body are counted before they are read: an empty span has two bytes and is parsed into hundreds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.otlp_values import (
    attributes_of,
    json_attributes,
    object_at,
    objects_at,
    scope_of,
    text_at,
    whole_at,
)
from timemachine.recording.otel.pure.span import Span, SpanEvent

LATEST: Final = 2**63 - 1
LONGEST_NAME: Final = 80
"""Characters of a refused span's name that are shown."""
MOST_SPANS: Final = 50_000
_MOST_FIELDS: Final = 2 * MOST_SPANS
"""Most fields of a protobuf body down to its spans; groups and their own fields count, too."""
_PATH: Final = (1, 2, 2)
"""The nested fields `resource_spans`, `scope_spans` and `spans`, and those of log records."""
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_WIDTHS: Final = {_FIXED_64: 8, _FIXED_32: 4}
_TRACE_ID, _SPAN_ID = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")
_STATUSES: Final = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
_COUNTS: Final = ("dropped_attributes_count", "dropped_events_count", "dropped_links_count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A span or log record that is not recorded, and why, in one sentence.

    It is named by its id, else by its name, else by its place in the request, from 1.
    """

    span: str
    reason: str


def from_protobuf(body: bytes) -> Iterator[Span | Refused]:
    """Yield the spans of a protobuf body. Raises `TooLarge` for too many spans."""
    check_protobuf(body, "spans")
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError as why:
        raise InvalidInput("The body is not a protobuf ExportTraceServiceRequest.", code="not_otlp") from why
    places = count(1)
    for group in request.resource_spans:
        resource = attributes_of(group.resource.attributes)
        for scoped in group.scope_spans:
            scope = scope_of(scoped.scope.name, scoped.scope.version, attributes_of(scoped.scope.attributes))
            for each in scoped.spans:
                yield _checked(_of_protobuf(each, resource, scope), next(places))


def from_json(body: bytes) -> Iterator[Span | Refused]:
    """Yield the spans of a JSON body: ids in hex, 64-bit numbers as text or number, unknown fields ignored.

    Raises `TooLarge` for too many spans.
    """
    document = parse_json(body)
    check_document(document, ("resourceSpans", "scopeSpans", "spans"), "spans")
    yield from of_document(document)


def of_document(request: Any) -> Iterator[Span | Refused]:
    """Yield the spans of a JSON document."""
    if not isinstance(request, dict) or not isinstance(request.get("resourceSpans", []), list):
        raise InvalidInput(
            "The body is JSON but not an ExportTraceServiceRequest, which is an object with `resourceSpans`.",
            code="not_otlp",
        )
    places = count(1)
    for group in objects_at(request, "resourceSpans"):
        for scoped in objects_at(group, "scopeSpans"):
            for each in objects_at(scoped, "spans"):
                place = next(places)
                try:
                    span = _of_json(each, object_at(group, "resource"), object_at(scoped, "scope"))
                except (ValueError, TypeError) as why:
                    label = _span_label(each.get("spanId"), each.get("name"), place)
                    yield Refused(span=label, reason=f"It cannot be read: {str(why)[:200]}.")
                else:
                    yield _checked(span, place)


def _checked(span: Span, place: int) -> Span | Refused:
    if not is_trace_id(span.trace):
        label = _span_label(span.id, span.name, place)
        return Refused(span=label, reason="Its trace ID must be 16 bytes, not all zero.")
    if not is_span_id(span.id):
        label = _span_label(None, span.name, place)
        return Refused(span=label, reason="Its span ID must be 8 bytes, not all zero.")
    if span.parent is not None and not _SPAN_ID.fullmatch(span.parent):
        return Refused(span=span.id, reason="Its parent's span ID must be 8 bytes.")
    if not 0 <= span.began <= LATEST or not 0 <= span.ended <= LATEST:
        return Refused(span=span.id, reason="Its times must be before the year 2262.")
    return span


def is_trace_id(text: str) -> bool:
    """Return whether the text is the id of a trace in hex."""
    return bool(_TRACE_ID.fullmatch(text)) and int(text, 16) != 0


def is_span_id(text: str) -> bool:
    """Return whether the text is the id of a span in hex."""
    return bool(_SPAN_ID.fullmatch(text)) and int(text, 16) != 0


def _span_label(span_id: Any, name: Any, place: int) -> str:
    """Return what a refused span is called in messages."""
    if isinstance(span_id, str) and is_span_id(span_id.lower()):
        return span_id.lower()
    if isinstance(name, str) and name.strip():
        shown = name.strip()[:LONGEST_NAME].encode("utf-8", "replace").decode()
        return f"The span “{shown}”"
    return f"Span {place:,} of the request"


def _of_protobuf(span: trace_pb2.Span, resource: JsonObject, scope: JsonObject) -> Span:
    more: JsonObject = {}
    if span.kind:
        more["kind"] = int(span.kind)
    if span.trace_state:
        more["trace_state"] = span.trace_state
    if span.links:
        more["links"] = [
            {
                "trace": link.trace_id.hex(),
                "span": link.span_id.hex(),
                "attributes": attributes_of(link.attributes),
            }
            for link in span.links
        ]
    more |= {name: count for name in _COUNTS if (count := getattr(span, name))}
    return Span(
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex() or None,
        name=span.name,
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=attributes_of(span.attributes),
        events=tuple(
            SpanEvent(name=each.name, at=each.time_unix_nano, attributes=attributes_of(each.attributes))
            for each in span.events
        ),
        status=span.status.code,
        status_message=span.status.message,
        more=more,
        resource=resource,
        scope=scope,
    )


def _of_json(span: JsonObject, resource: JsonObject, scope: JsonObject) -> Span:
    status = object_at(span, "status")
    code = status.get("code")
    links = [
        {
            "trace": text_at(each, "traceId"),
            "span": text_at(each, "spanId"),
            "attributes": json_attributes(each),
        }
        for each in objects_at(span, "links")
    ]
    more = {
        "kind": span.get("kind") or None,
        "trace_state": text_at(span, "traceState") or None,
        "links": links or None,
        **{name: span.get(_camel(name)) or None for name in _COUNTS},
    }
    events = tuple(
        SpanEvent(
            name=text_at(each, "name"), at=whole_at(each, "timeUnixNano"), attributes=json_attributes(each)
        )
        for each in objects_at(span, "events")
    )
    return Span(
        trace=text_at(span, "traceId").lower(),
        id=text_at(span, "spanId").lower(),
        parent=text_at(span, "parentSpanId").lower() or None,
        name=text_at(span, "name"),
        began=whole_at(span, "startTimeUnixNano"),
        ended=whole_at(span, "endTimeUnixNano"),
        attributes=json_attributes(span),
        events=events,
        status=_STATUSES[code] if code in _STATUSES else int(code or 0),
        status_message=text_at(status, "message"),
        more={name: value for name, value in more.items() if value is not None},
        resource=json_attributes(resource),
        scope=scope_of(text_at(scope, "name"), text_at(scope, "version"), json_attributes(scope)),
    )


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


def check_protobuf(body: bytes, what: str) -> None:
    """Raise `TooLarge` if there are more of what is sent than a request may have. Invalid protobuf is left to the decoder."""
    found = 0
    for fields, is_one in enumerate(_fields(memoryview(body), _PATH), start=1):
        found += is_one
        if found > MOST_SPANS or fields > _MOST_FIELDS:
            raise _too_many(what)


def check_document(request: Any, names: tuple[str, str, str], what: str) -> None:
    """Raise `TooLarge` if a JSON request has more of what is sent than it may have. `names` are the nested fields."""
    groups, scopes, records = names
    found = sum(
        len(objects_at(each, records))
        for group in objects_at(request, groups)
        for each in objects_at(group, scopes)
    )
    if found > MOST_SPANS:
        raise _too_many(what)


def _too_many(what: str) -> TooLarge:
    return TooLarge(
        f"A request can have at most {MOST_SPANS:,} {what}. Send smaller batches.", limit=MOST_SPANS
    )


def _fields(message: memoryview, path: tuple[int, ...]) -> Iterator[bool]:
    """Yield, for every field on the way down the path, whether it is at its end. Stops where the message is invalid."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        inner = number == path[0] and kind == _LENGTH
        yield inner and len(path) == 1
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _LENGTH:
            size, at = _varint(message, at)
            if inner and len(path) > 1:
                yield from _fields(message[at : at + size], path[1:])
            at += size
        elif kind in _WIDTHS:
            at += _WIDTHS[kind]
        else:
            return


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number at this place and the place after it; the end of the message if it is cut off."""
    found = 0
    for shift, byte in enumerate(message[at : at + 10]):
        found |= (byte & 127) << 7 * shift
        if byte < 128:  # noqa: PLR2004
            return found, at + shift + 1
    return found, len(message)
