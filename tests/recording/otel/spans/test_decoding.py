"""Both OTLP encodings give the same spans; unreadable input is refused per span or per request, with a reason."""

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.otel.pure.decoding import Refused, from_json, from_protobuf
from timemachine.recording.otel.pure.span import Span

TRACE, ID = b"\x01" * 16, b"\x02" * 8


def request(*spans: ProtobufSpan) -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    group = made.resource_spans.add()
    group.resource.attributes.append(KeyValue(key="service.name", value=AnyValue(string_value="desk")))
    scoped = group.scope_spans.add()
    scoped.scope.name, scoped.scope.version = "lib", "1"
    scoped.spans.extend(spans)
    return made


def as_json(made: ExportTraceServiceRequest) -> bytes:
    """OTLP JSON: the JSON form of protobuf, except that ids are hex."""
    document = MessageToDict(made, use_integers_for_enums=True)
    for group in document.get("resourceSpans", []):
        for scoped in group.get("scopeSpans", []):
            for each in scoped.get("spans", []):
                for owner in (each, *each.get("links", [])):
                    for name in ("traceId", "spanId", "parentSpanId"):
                        if name in owner:
                            owner[name] = base64.b64decode(owner[name]).hex().upper()
    return json.dumps(document).encode()


def full() -> ProtobufSpan:
    values = {
        "text": AnyValue(string_value="ä\x00"),
        "yes": AnyValue(bool_value=True),
        "no": AnyValue(bool_value=False),
        "whole": AnyValue(int_value=-(2**60)),
        "half": AnyValue(double_value=0.5),
        "huge": AnyValue(double_value=float("inf")),
        "bytes": AnyValue(bytes_value=b"\x00\xff"),
        "list": AnyValue(array_value=ArrayValue(values=[AnyValue(int_value=1), AnyValue()])),
        "object": AnyValue(
            kvlist_value=KeyValueList(values=[KeyValue(key="a", value=AnyValue(int_value=2))])
        ),
        "nothing": AnyValue(),
    }
    made = ProtobufSpan(
        trace_id=TRACE,
        span_id=ID,
        parent_span_id=b"\x03" * 8,
        trace_state="a=b",
        name="work",
        kind=ProtobufSpan.SPAN_KIND_CLIENT,
        start_time_unix_nano=1_760_000_000_000_000_001,
        end_time_unix_nano=1_760_000_000_000_000_009,
        attributes=[KeyValue(key=name, value=value) for name, value in values.items()],
        dropped_events_count=2,
        status=Status(code=Status.STATUS_CODE_ERROR, message="no"),
    )
    event = made.events.add()
    event.name, event.time_unix_nano = "seen", 5
    link = made.links.add()
    link.trace_id, link.span_id = TRACE, ID
    return made


def test_both_encodings_give_the_same_span() -> None:
    made = request(full())
    (one,) = from_protobuf(made.SerializeToString())
    (other,) = from_json(as_json(made))
    assert isinstance(one, Span)
    assert one == other
    assert one.attributes == {
        "text": "ä\x00",
        "yes": True,
        "no": False,
        "whole": -(2**60),
        "half": 0.5,
        "huge": "inf",
        "bytes": "AP8=",
        "list": [1, None],
        "object": {"a": 2},
        "nothing": None,
    }
    assert (one.trace, one.id, one.parent) == (TRACE.hex(), ID.hex(), "03" * 8)
    assert one.ended - one.began == 8
    assert one.more == {
        "kind": 3,
        "trace_state": "a=b",
        "links": [{"trace": TRACE.hex(), "span": ID.hex(), "attributes": {}}],
        "dropped_events_count": 2,
    }
    assert (one.resource, one.scope) == ({"service.name": "desk"}, {"name": "lib", "version": "1"})
    assert (one.status, one.status_message) == (2, "no")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"trace_id": b""}, "Its trace ID must be 16 bytes, not all zero."),
        ({"trace_id": bytes(16)}, "Its trace ID must be 16 bytes, not all zero."),
        ({"span_id": b"\x01"}, "Its span ID must be 8 bytes, not all zero."),
        ({"parent_span_id": b"\x01"}, "Its parent's span ID must be 8 bytes."),
        ({"end_time_unix_nano": 2**63}, "Its times must be before the year 2262."),
    ],
)
def test_a_span_without_valid_ids_is_refused_alone(changed: dict[str, Any], reason: str) -> None:
    facts: dict[str, Any] = {"trace_id": TRACE, "span_id": ID}
    made = request(ProtobufSpan(**facts | changed), ProtobufSpan(**facts))
    for found in (list(from_protobuf(made.SerializeToString())), list(from_json(as_json(made)))):
        assert [type(each) for each in found] == [Refused, Span]
        assert isinstance(found[0], Refused)
        assert found[0].reason == reason


@pytest.mark.parametrize(
    ("refused", "identified_as"),
    [
        ({"span_id": ID, "name": "ask"}, ID.hex()),
        ({"span_id": b"", "name": " ask\n"}, "The span “ask”"),
        ({"span_id": bytes(8), "name": "x" * 100}, f"The span “{'x' * 80}”"),
        ({"span_id": b"\x01"}, "Span 2 of the request"),
    ],
)
def test_a_refused_span_is_identified_by_id_name_or_position(
    refused: dict[str, Any], identified_as: str
) -> None:
    made = request(ProtobufSpan(trace_id=TRACE, span_id=ID), ProtobufSpan(**refused))
    for _, found in (from_protobuf(made.SerializeToString()), from_json(as_json(made))):
        assert isinstance(found, Refused)
        assert found.span == identified_as


def test_a_refused_span_with_a_lone_surrogate_in_its_name_is_reported_in_valid_utf_8() -> None:
    body = b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "a\\ud800", "spanId": "\\ud800", "kind": 1}]}]}]}'
    [refused] = from_json(body)
    assert isinstance(refused, Refused)
    assert refused.span == "The span “a?”"


@pytest.mark.parametrize(
    "span",
    [
        {"startTimeUnixNano": "soon"},
        {"startTimeUnixNano": [1]},
        {"status": {"code": "NEVER_HEARD_OF"}},
        {"attributes": [{"key": "a", "value": {"intValue": "x"}}]},
        {"attributes": [{"key": "a", "value": {"stringValue": 7}}]},
        {"attributes": [{"key": "a", "value": {"boolValue": "false"}}]},
    ],
)
def test_an_unreadable_json_span_is_refused_alone(span: dict[str, Any]) -> None:
    good = {"traceId": TRACE.hex(), "spanId": ID.hex()}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [good | span, good]}]}]}
    refused, found = from_json(json.dumps(body).encode())
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("It cannot be read:")
    assert isinstance(found, Span)


def test_attributes_nested_too_deeply_refuse_the_request() -> None:
    value: dict[str, Any] = {"intValue": 1}
    for _ in range(20):
        value = {"arrayValue": {"values": [value]}}
    spans = [{"traceId": TRACE.hex(), "spanId": ID.hex(), "attributes": [{"key": "a", "value": value}]}]
    body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    with pytest.raises(InvalidInput, match="64 levels"):
        list(from_json(json.dumps(body).encode()))


def test_unknown_fields_of_later_versions_are_ignored() -> None:
    good = {
        "traceId": TRACE.hex(),
        "spanId": ID.hex(),
        "flags": 257,
        "tomorrow": {},
        "status": {"code": "STATUS_CODE_OK"},
    }
    body = {"resourceSpans": [{"more": 1, "resource": None, "scopeSpans": [{"spans": [good, 7]}, "?"]}, None]}
    (found,) = from_json(json.dumps(body).encode())
    assert isinstance(found, Span)
    assert found.status == 1
    values = [
        3,
        {"doubleValue": 1, "tomorrow": 2},
        {"stringValue": None},
        {"intValue": None},
        {"doubleValue": None},
    ]
    odd = {"attributes": [{"key": key, "value": value} for key, value in zip("abcde", values, strict=True)]}
    (found,) = from_json(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [good | odd]}]}]}).encode())
    assert isinstance(found, Span)
    assert found.attributes == {"a": None, "b": 1.0, "c": None, "d": None, "e": None}


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"resourceSpans": 7}', b"\xff"])
def test_an_invalid_json_body_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        list(from_json(body))


def test_an_empty_request_has_no_spans() -> None:
    assert list(from_protobuf(b"")) == []
    assert list(from_json(b"{}")) == []


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    for read in (from_protobuf, from_json):
        with suppress(InvalidInput):
            assert all(isinstance(each, Span | Refused) for each in read(body))
