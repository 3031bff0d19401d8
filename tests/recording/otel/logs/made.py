"""Sample log records, and requests with them."""

import base64
import json
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

BEGAN: Final = 1_760_000_000_000_000_000
SECOND: Final = 1_000_000_000
SCOPE: Final = "com.anthropic.claude_code.events"


def value_of(found: Any) -> AnyValue:
    """The value in protobuf."""
    if isinstance(found, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(found)))
    if isinstance(found, list):
        return AnyValue(array_value=ArrayValue(values=map(value_of, found)))
    if isinstance(found, bool):
        return AnyValue(bool_value=found)
    return AnyValue(int_value=found) if isinstance(found, int) else AnyValue(string_value=found)


def pairs(attributes: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value_of(found)) for key, found in attributes.items()]


def record(
    name: str,
    attributes: dict[str, Any] | None = None,
    *,
    at: float = 0,
    trace: int = 0,
    span: int = 0,
    body: Any = None,
) -> LogRecord:
    """A record of an event `at` seconds after the beginning."""
    return LogRecord(
        time_unix_nano=BEGAN + int(at * SECOND),
        observed_time_unix_nano=BEGAN + int(at * SECOND),
        event_name=name,
        body=None if body is None else value_of(body),
        trace_id=trace.to_bytes(16) if trace else b"",
        span_id=span.to_bytes(8) if span else b"",
        attributes=pairs(attributes or {}),
    )


def of_claude_code(name: str, number: int, at: Any = 0, **attributes: Any) -> LogRecord:
    """A record as Claude Code writes it: the whole name in the body, and numbers as texts."""
    ids: Any = {key: attributes.pop(key, 0) for key in ("trace", "span")}
    said = {
        "event.name": name,
        "event.sequence": number,
        "session.id": "talk",
        "prompt.id": "p-1",
    } | attributes
    return record("", said, at=at or number, body=f"claude_code.{name}", **ids)


def inside(sample: LogRecord, span: int, without: str = "") -> LogRecord:
    """The record inside a span of trace 1, without one of its attributes."""
    found = LogRecord()
    found.MergeFrom(sample)
    found.trace_id, found.span_id = (1).to_bytes(16), span.to_bytes(8)
    kept = [each for each in found.attributes if each.key != without]
    del found.attributes[:]
    found.attributes.extend(kept)
    return found


def logs(*records: LogRecord, scope: str = SCOPE) -> ExportLogsServiceRequest:
    """A request with these records."""
    made = ExportLogsServiceRequest()
    group = made.resource_logs.add()
    group.resource.attributes.extend(pairs({"service.name": "claude-code"}))
    scoped = group.scope_logs.add()
    scoped.scope.name, scoped.scope.version = scope, "2.1.0"
    scoped.log_records.extend(records)
    return made


def logs_as_json(made: ExportLogsServiceRequest) -> bytes:
    """OTLP JSON: the JSON form of protobuf, except that ids are hex."""
    document = MessageToDict(made, use_integers_for_enums=True)
    for group in document.get("resourceLogs", []):
        for scoped in group["scopeLogs"]:
            for each in scoped.get("logRecords", []):
                for name in {"traceId", "spanId"} & each.keys():
                    each[name] = base64.b64decode(each[name]).hex()
    return json.dumps(document).encode()


PROMPT: Final = of_claude_code("user_prompt", 1, prompt="Fix the roof", prompt_length="12")
REQUEST: Final = of_claude_code(
    "api_request",
    2,
    at=10,
    model="claude-sonnet-4-5",
    input_tokens="100",
    output_tokens="20",
    cache_read_tokens="1000",
    cache_creation_tokens="0",
    cost_usd="0.0123",
    duration_ms="4000",
    request_id="req_1",
)
TOOL: Final = of_claude_code(
    "tool_result",
    4,
    at=12,
    tool_name="Bash",
    tool_use_id="toolu_1",
    success="false",
    error="Exit code 1",
    duration_ms="1500",
    tool_parameters='{"bash_command": "make"}',
)
DECISION: Final = of_claude_code(
    "tool_decision", 3, at=10.2, tool_name="Bash", decision="accept", source="config"
)
FAILURE: Final = of_claude_code(
    "api_error", 5, at=14, model="claude-sonnet-4-5", error="Overloaded", status_code="529", duration_ms="300"
)
RUN: Final = (PROMPT, REQUEST, DECISION, TOOL, FAILURE)
