"""Decode OTLP/HTTP bodies with log records: `ExportLogsServiceRequest` as protobuf or JSON (opentelemetry-proto 1.x).

Every record becomes a span (`log_records`) or is refused on its own; a body that cannot be read raises `InvalidInput`.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1 import logs_pb2

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.decoding import Refused, check_document, check_protobuf
from timemachine.recording.otel.pure.log_records import LogRecord, span_of
from timemachine.recording.otel.pure.otlp_values import (
    attributes_of,
    json_attributes,
    json_value,
    object_at,
    objects_at,
    scope_of,
    text_at,
    value_of,
    whole_at,
)
from timemachine.recording.otel.pure.span import Span

_WHAT: Final = "log records"


def logs_from_protobuf(body: bytes) -> Iterator[Span | Refused]:
    """Yield the log records of a protobuf body. Raises `TooLarge` for too many."""
    check_protobuf(body, _WHAT)
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError as why:
        raise InvalidInput("The body is not a protobuf ExportLogsServiceRequest.", code="not_otlp") from why
    places = count(1)
    for group in request.resource_logs:
        resource = attributes_of(group.resource.attributes)
        for scoped in group.scope_logs:
            scope = scope_of(scoped.scope.name, scoped.scope.version, attributes_of(scoped.scope.attributes))
            for each in scoped.log_records:
                yield span_of(_of_protobuf(each, resource, scope), next(places))


def logs_from_json(body: bytes) -> Iterator[Span | Refused]:
    """Yield the log records of a JSON body. Raises `TooLarge` for too many."""
    document = parse_json(body)
    check_document(document, ("resourceLogs", "scopeLogs", "logRecords"), _WHAT)
    yield from logs_of_document(document)


def logs_of_document(request: Any) -> Iterator[Span | Refused]:
    """Yield the log records of a JSON document."""
    if not isinstance(request, dict) or not isinstance(request.get("resourceLogs", []), list):
        raise InvalidInput(
            "The body is JSON but not an ExportLogsServiceRequest, which is an object with `resourceLogs`.",
            code="not_otlp",
        )
    places = count(1)
    for group in objects_at(request, "resourceLogs"):
        for scoped in objects_at(group, "scopeLogs"):
            for each in objects_at(scoped, "logRecords"):
                place = next(places)
                try:
                    record = _of_json(each, object_at(group, "resource"), object_at(scoped, "scope"))
                except (ValueError, TypeError) as why:
                    yield Refused(
                        span=f"Log record {place:,} of the request",
                        reason=f"It cannot be read: {str(why)[:200]}.",
                    )
                else:
                    yield span_of(record, place)


def _of_protobuf(record: logs_pb2.LogRecord, resource: JsonObject, scope: JsonObject) -> LogRecord:
    return LogRecord(
        trace=record.trace_id.hex(),
        span=record.span_id.hex(),
        at=record.time_unix_nano,
        observed_at=record.observed_time_unix_nano,
        name=record.event_name,
        severity=record.severity_text,
        body=value_of(record.body),
        attributes=attributes_of(record.attributes),
        resource=resource,
        scope=scope,
    )


def _of_json(record: JsonObject, resource: JsonObject, scope: JsonObject) -> LogRecord:
    return LogRecord(
        trace=text_at(record, "traceId").lower(),
        span=text_at(record, "spanId").lower(),
        at=whole_at(record, "timeUnixNano"),
        observed_at=whole_at(record, "observedTimeUnixNano"),
        name=text_at(record, "eventName"),
        severity=text_at(record, "severityText"),
        body=json_value(record.get("body")),
        attributes=json_attributes(record),
        resource=json_attributes(resource),
        scope=scope_of(text_at(scope, "name"), text_at(scope, "version"), json_attributes(scope)),
    )
