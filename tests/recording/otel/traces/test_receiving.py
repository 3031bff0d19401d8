"""`POST /v1/traces` follows OTLP/HTTP."""

import gzip
import io
import json
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from django.test import Client
from google.rpc.status_pb2 import Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pytest_django import Settings

from tests.api.conftest import Program, program
from tests.recording.otel.spans.test_decoding import ID, TRACE, as_json, full, request
from tests.recording.otel.traces.conftest import ADDRESS, JSON, PROTOBUF, Exporter, recorded
from timemachine.api import concurrency
from timemachine.core.accounts.models import Project
from timemachine.recording.otel.pure import decoding

pytestmark = pytest.mark.django_db


def plain(name: str = "work") -> Span:
    return Span(trace_id=TRACE, span_id=ID, name=name, start_time_unix_nano=1_760_000_000_000_000_000)


@pytest.mark.parametrize(
    ("content_type", "packed"),
    [(PROTOBUF, ""), (PROTOBUF, "gzip"), (JSON, "deflate"), (f"{JSON}; charset=utf-8", "identity")],
)
def test_spans_are_recorded_in_either_encoding_compressed_or_not(
    exporter: Exporter, project: Project, content_type: str, packed: str
) -> None:
    packs: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
    pack = packs.get(packed, bytes)
    body = request(plain()).SerializeToString() if content_type == PROTOBUF else json_body(plain())
    answer = exporter.raw(pack(body), content_type, **({"Content-Encoding": packed} if packed else {}))
    assert answer.status_code == 200
    assert answer["Content-Type"] == content_type.partition(";")[0]
    assert answer.content == (b"" if content_type == PROTOBUF else b"{}")
    assert recorded(project)[TRACE.hex()]["actions"] == [("work", "event", None)]


def test_a_body_without_a_length_is_read_whole_or_refused(
    exporter: Exporter, project: Project, settings: Settings
) -> None:
    body = request(plain()).SerializeToString()

    def sent(**server: Any) -> Any:
        chunked = {
            "wsgi.input": io.BytesIO(body),
            "CONTENT_TYPE": PROTOBUF,
            "HTTP_TRANSFER_ENCODING": "chunked",
            **server,
        }
        return exporter.client.generic("POST", ADDRESS, b"", PROTOBUF, headers=exporter.headers, **chunked)

    assert sent().status_code == 400
    assert recorded(project) == {}
    settings.MAX_REQUEST_BYTES = len(body) - 1
    assert sent(**{"wsgi.input_terminated": True}).status_code == 413
    settings.MAX_REQUEST_BYTES = len(body)
    assert sent(**{"wsgi.input_terminated": True}).status_code == 200
    assert recorded(project)[TRACE.hex()]["actions"] == [("work", "event", None)]


@pytest.mark.parametrize("signal", ["metrics", "profiles"])
def test_other_signals_have_no_address_and_record_nothing(
    exporter: Exporter, project: Project, signal: str
) -> None:
    answer = exporter.client.post(f"/v1/{signal}", b"", content_type=PROTOBUF, headers=exporter.headers)
    assert answer.status_code == 404
    assert recorded(project) == {}


def json_body(*spans: Span) -> bytes:
    return as_json(request(*spans))


def test_spans_that_cannot_be_recorded_are_counted_and_the_rest_is_recorded(
    exporter: Exporter, project: Project
) -> None:
    bad = Span(trace_id=TRACE, span_id=b"\x01", name="bad")
    answer = exporter.send(bad, plain())
    assert answer.partial_success.rejected_spans == 1
    assert answer.partial_success.error_message.startswith("The span “bad”: Its span ID must be 8 bytes")
    response = exporter.send_json(*[bad] * 7)
    assert response["partialSuccess"]["rejectedSpans"] == "7"
    assert response["partialSuccess"]["errorMessage"].endswith("And 2 more.")
    assert recorded(project)[TRACE.hex()]["actions"] == [("work", "event", None)]


@pytest.mark.parametrize(
    ("body", "content_type", "packed", "status", "says"),
    [
        (b"\xff\xff", PROTOBUF, "", 400, "not a protobuf ExportTraceServiceRequest"),
        (b"{", JSON, "", 400, "not JSON"),
        (b"[]", JSON, "", 400, "resourceSpans"),
        (b"{}", "text/plain", "", 415, "application/json"),
        (b"{}", JSON, "br", 415, "Content-Encoding"),
        (b"{}", JSON, "gzip", 400, "damaged"),
        (
            gzip.compress(b"{}", mtime=0) + gzip.compress(b"{}" * 99, mtime=0)[:-12],
            JSON,
            "gzip",
            400,
            "truncated",
        ),
        (gzip.compress(b" " * (65 * 1024 * 1024)), JSON, "gzip", 413, "at most 67,108,864 bytes"),
    ],
)
def test_an_invalid_request_is_refused_in_its_own_encoding(
    exporter: Exporter, body: bytes, content_type: str, packed: str, status: int, says: str
) -> None:
    answer = exporter.raw(body, content_type, **({"Content-Encoding": packed} if packed else {}))
    assert answer.status_code == status
    message = (
        Status.FromString(answer.content).message if content_type == PROTOBUF else answer.json()["message"]
    )
    assert says in message


def test_only_a_key_with_the_record_scope_is_accepted(api: Program, project: Project) -> None:
    assert Client().post(ADDRESS, b"", content_type=PROTOBUF).status_code == 401
    answer = Client().post(ADDRESS, b"", content_type=JSON, headers={"Authorization": "Bearer tmk_no"})
    assert (answer.status_code, answer.json()["code"]) == (401, 16)
    reader = Exporter(program(project, "read"))
    assert reader.raw(b"").status_code == 403


def test_a_get_request_explains_that_spans_are_sent_with_post(client: Client) -> None:
    answer = client.get(ADDRESS)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Send spans here with POST" in answer.json()["message"]


def test_senders_beyond_the_limit_get_retry_after(
    exporter: Exporter,
) -> None:
    small = request(plain()).SerializeToString()
    large = request(plain("x" * concurrency.SMALL)).SerializeToString()
    for are_small, places, refused, taken in (
        (True, concurrency.SMALL_AT_ONCE, small, large),
        (False, concurrency.AT_ONCE, large, small),
    ):
        with ExitStack() as others:
            for _ in range(places):
                others.enter_context(concurrency.place(small=are_small))
            answer = exporter.raw(refused)
            assert (answer.status_code, answer["Retry-After"]) == (429, "1")
            assert Status.FromString(answer.content).code == 8
            assert exporter.raw(taken).status_code == 200
        assert exporter.raw(refused).status_code == 200


def test_any_text_and_the_complete_span_are_returned(exporter: Exporter, api: Program) -> None:
    exporter.send(full())
    found: Any = api.get(f"/sessions/{TRACE.hex()}/actions").json()["items"]
    (action,) = found
    assert action["id"] == f"{TRACE.hex()}-{ID.hex()}"
    assert action["parent"] == f"{TRACE.hex()}-{'03' * 8}"
    assert action["error"] == {"type": "error", "message": "no"}
    assert action["source"]["attributes"]["text"] == "ä\x00"
    assert json.dumps(action)


def test_the_same_trace_in_another_project_is_another_session(
    exporter: Exporter, stranger: Program, project: Project, other_project: Project
) -> None:
    exporter.send(plain("ours"))
    Exporter(stranger).send(plain("theirs"))
    assert recorded(project)[TRACE.hex()]["actions"] == [("ours", "event", None)]
    assert recorded(other_project)[TRACE.hex()]["actions"] == [("theirs", "event", None)]


def test_a_body_of_several_gzip_members_is_one_body(exporter: Exporter, project: Project) -> None:
    body = json_body(plain())
    packed = gzip.compress(body[:20]) + gzip.compress(body[20:])
    assert exporter.raw(packed, JSON, **{"Content-Encoding": "gzip"}).status_code == 200
    assert recorded(project)[TRACE.hex()]["actions"] == [("work", "event", None)]


def test_a_body_with_more_than_a_thousand_gzip_members_is_refused(
    exporter: Exporter, project: Project
) -> None:
    empty = gzip.compress(b"", mtime=0)
    packed = empty * 999 + gzip.compress(json_body(plain()))
    assert exporter.raw(packed, JSON, **{"Content-Encoding": "gzip"}).status_code == 200
    assert recorded(project)[TRACE.hex()]["actions"] == [("work", "event", None)]
    answer = exporter.raw(empty * 1_001 + b"no member", JSON, **{"Content-Encoding": "gzip"})
    assert answer.status_code == 400
    assert "more than 1,000 compressed members" in answer.json()["message"]


def test_a_small_compressed_body_counts_by_its_unpacked_size(exporter: Exporter) -> None:
    large = gzip.compress(json_body(plain("x" * concurrency.SMALL)))
    with ExitStack() as others:
        for _ in range(concurrency.AT_ONCE):
            others.enter_context(concurrency.place())
        assert exporter.raw(large, JSON, **{"Content-Encoding": "gzip"}).status_code == 429
        small = gzip.compress(json_body(plain()))
        assert exporter.raw(small, JSON, **{"Content-Encoding": "gzip"}).status_code == 200


def nested(field: int, body: bytes) -> bytes:
    """A message as a field of another message, in protobuf."""
    return bytes([field << 3 | 2]) + encoded(len(body)) + body


def encoded(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + encoded(number >> 7)


def test_more_than_fifty_thousand_spans_are_refused_with_the_limit(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decoding.MOST_SPANS == 50_000
    monkeypatch.setattr(decoding, "MOST_SPANS", 500)
    monkeypatch.setattr(decoding, "_MOST_FIELDS", 1_000)

    def written(count: int) -> bytes:
        return nested(1, nested(2, b"\x12\x00" * count))

    def listed(count: int) -> bytes:
        return b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b",".join([b"{}"] * count) + b"]}]}]}"

    for write, content_type in ((written, PROTOBUF), (listed, JSON)):
        refused = exporter.raw(write(501), content_type)
        assert refused.status_code == 413
        assert b"at most 500 spans" in refused.content
        assert exporter.raw(write(500), content_type).status_code == 200
    for hidden in (b"\x08\x00" * 2_000, nested(1, b"") * 2_000, nested(1, nested(2, b"") * 2_000)):
        assert exporter.raw(hidden).status_code == 413
