"""OTLP/HTTP: `POST /v1/traces` and `/v1/logs`, in protobuf and in JSON, as the specification of OpenTelemetry's protocol (1.x) says.

Answers come in the encoding of the request: `ExportTraceServiceResponse` or `ExportLogsServiceResponse`, or `google.rpc.Status` for a
refusal. 200 means that every span or record is durable but those counted as rejected; 429 and 503 mean "send it again", with `Retry-After`.
"""

import json
import logging
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from timemachine.api.access import Caller, caller_with
from timemachine.api.concurrency import SMALL, place
from timemachine.api.errors import MethodNotAllowed, Unsupported, refusal
from timemachine.core.database import failure_of
from timemachine.core.pure.errors import (
    InvalidInput,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TimeMachineError,
    TooLarge,
)
from timemachine.core.pure.numbers import counted
from timemachine.jobs.queue import enqueue
from timemachine.memory.tasks import index_steps
from timemachine.recording.otel.commands import record_spans
from timemachine.recording.otel.pure.decoding import Refused, from_json, from_protobuf
from timemachine.recording.otel.pure.log_decoding import logs_from_json, logs_from_protobuf
from timemachine.recording.otel.pure.log_records import LEFT_OUT
from timemachine.recording.otel.pure.span import Span

log = logging.getLogger(__name__)

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
MOST_NAMED: Final = 5
MOST_MEMBERS: Final = 1_000
_PIECE: Final = 64 * 1024
_WINDOWS: Final = {"": None, "identity": None, "gzip": 31, "deflate": 15}
_CODES: Final = {400: 3, 401: 16, 403: 7, 404: 5, 413: 8, 415: 3, 429: 8, 503: 14}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signal:
    """A kind of data that is received: what it is called, how it is read, and how it is answered."""

    what: str
    readers: dict[str, Callable[[bytes], Iterator[Span | Refused]]]
    response: type[ExportTraceServiceResponse | ExportLogsServiceResponse]
    rejected: tuple[str, str]
    """The field of the answer with the number of those that are not recorded, in protobuf and in JSON."""


_TRACES: Final = _Signal(
    what="spans",
    readers={PROTOBUF: from_protobuf, JSON: from_json},
    response=ExportTraceServiceResponse,
    rejected=("rejected_spans", "rejectedSpans"),
)
_LOGS: Final = _Signal(
    what="log records",
    readers={PROTOBUF: logs_from_protobuf, JSON: logs_from_json},
    response=ExportLogsServiceResponse,
    rejected=("rejected_log_records", "rejectedLogRecords"),
)


@csrf_exempt
def receive_traces(request: HttpRequest) -> HttpResponse:
    """Record the spans of a request."""
    return _received(request, _TRACES)


@csrf_exempt
def receive_logs(request: HttpRequest) -> HttpResponse:
    """Record the log records of a request that agents wrote."""
    return _received(request, _LOGS)


def _received(request: HttpRequest, signal: _Signal) -> HttpResponse:
    if request.method != "POST":
        response = _refused(
            MethodNotAllowed(f"Send {signal.what} here with POST, as an OTLP/HTTP exporter does."), JSON
        )
        response["Allow"] = "POST"
        return response
    encoding = request.content_type
    try:
        who = _caller(request)
        body = _Body.of(request)
        with place(small=body.is_small()):
            read = signal.readers.get(encoding or "")
            if read is None:
                raise Unsupported(
                    f"Send {PROTOBUF} or {JSON}, not {encoding[:80]!r}."
                    if encoding
                    else f"Name the encoding in Content-Type: {PROTOBUF} or {JSON}."
                )
            done = record_spans(who.project, read(body.unpacked(settings.MAX_REQUEST_BYTES)), by=who.by)
    except TimeMachineError as why:
        return _refused(why, encoding)
    except (DatabaseError, OSError) as why:
        failure = failure_of(why)
        if failure is None:
            raise
        log.warning("%s could not be recorded (%s): %s", signal.what, failure.code, failure.details)
        return _refused(failure.refusal(), encoding)
    enqueue(index_steps, who.project.id)
    return _answered(done.refused, signal, encoding)


@csrf_exempt
def only_traces_and_logs(request: HttpRequest, signal: str) -> HttpResponse:
    """Answer any request for metrics: only traces and logs are accepted."""
    why = NotFound(
        f"Nothing is accepted at /v1/{signal[:40]}. POST traces to /v1/traces and logs to /v1/logs; metrics are not supported.",
        signal=signal[:40],
    )
    return _refused(why, PROTOBUF) if request.content_type == PROTOBUF else refusal(why)


def _caller(request: HttpRequest) -> Caller:
    word, _, key = request.headers.get("Authorization", "").partition(" ")
    if word.lower() != "bearer" or not key:
        raise NotSignedIn(
            "Send an API key: OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20tmk_…. Create one under Settings."
        )
    who = caller_with(key.strip())
    if "record" not in who.key.scopes:
        raise NotAllowed(
            "This key cannot record. Create one with the scope `record` under Settings.", code="scope_missing"
        )
    return who


def _is_chunked(request: HttpRequest) -> bool:
    """Whether the body has no length, as OpenTelemetry's exporters for Node send it. For Django, such a body is empty."""
    return "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH")


def _chunked(request: HttpRequest) -> bytes:
    """Read a body without a length from a server that knows where it ends. Raises `TooLarge`, and `InvalidInput` with any other server."""
    if not request.META.get("wsgi.input_terminated"):
        raise InvalidInput("The request has no Content-Length. Send one.", code="unreadable")
    sent: bytes = request.META["wsgi.input"].read(settings.MAX_REQUEST_BYTES + 1)
    if len(sent) > settings.MAX_REQUEST_BYTES:
        raise _too_large(settings.MAX_REQUEST_BYTES)
    return sent


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of a request, as it came."""

    sent: bytes
    window: int | None
    """As zlib names its packing; None where it is not packed."""

    @classmethod
    def of(cls, request: HttpRequest) -> "_Body":
        try:
            sent = _chunked(request) if _is_chunked(request) else request.body
        except RequestDataTooBig as why:
            raise _too_large(settings.MAX_REQUEST_BYTES) from why
        packed = request.headers.get("Content-Encoding", "identity").strip().lower()
        if packed not in _WINDOWS:
            raise Unsupported(
                f"The Content-Encoding {packed[:40]!r} is not supported. Send gzip, deflate or none."
            )
        return cls(sent, _WINDOWS[packed])

    def is_small(self) -> bool:
        """Whether it is small as it came and unpacked; no more than that is unpacked to know it."""
        if len(self.sent) > SMALL:
            return False
        try:
            self.unpacked(SMALL)
        except TooLarge:
            return False
        return True

    def unpacked(self, limit: int) -> bytes:
        """Return all members of the body, concatenated as RFC 1952 allows. Raises `TooLarge`, and `InvalidInput` for a damaged one."""
        if self.window is None:
            return self.sent
        found = bytearray()
        rest = memoryview(self.sent)
        for _ in range(MOST_MEMBERS):
            if not rest:
                return bytes(found)
            rest = _without_member(rest, found, self.window, limit)
        if rest:
            raise InvalidInput(
                f"The body has more than {MOST_MEMBERS:,} compressed members. Compress it as one.",
                code="not_packed",
            )
        return bytes(found)


def _without_member(rest: memoryview, found: bytearray, window: int, limit: int) -> memoryview:
    """Unpack the first member and return the remaining bytes."""
    unpacking = zlib.decompressobj(window)
    while rest:
        piece = rest[:_PIECE]
        try:
            found += unpacking.decompress(piece, limit + 1 - len(found))
        except zlib.error as why:
            raise InvalidInput("The body is damaged and cannot be decompressed.", code="not_packed") from why
        if len(found) > limit:
            raise _too_large(limit)
        rest = rest[len(piece) - len(unpacking.unused_data) :]
        if unpacking.eof:
            return rest
    raise InvalidInput("The body is truncated: the compressed data is incomplete.", code="not_packed")


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"A request can have at most {limit:,} bytes after decompression. Send smaller batches.",
        limit_bytes=limit,
    )


def _answered(refused: Sequence[Refused], signal: _Signal, encoding: str | None) -> HttpResponse:
    answer = signal.response()
    fields = {}
    if refused:
        message = _why_refused(refused)
        name, json_name = signal.rejected
        setattr(answer.partial_success, name, len(refused))
        answer.partial_success.error_message = message
        fields = {"partialSuccess": {json_name: str(len(refused)), "errorMessage": message}}
    if encoding == PROTOBUF:
        return HttpResponse(answer.SerializeToString(), content_type=PROTOBUF)
    return HttpResponse(json.dumps(fields), content_type=JSON)


def _why_refused(refused: Sequence[Refused]) -> str:
    """Return the reasons of the first ones, and how many log records were left out because no agent wrote them."""
    others = [each for each in refused if each.reason != LEFT_OUT]
    parts = [f"{each.span}: {each.reason}" for each in others[:MOST_NAMED]]
    if len(others) > MOST_NAMED:
        parts.append(f"And {len(others) - MOST_NAMED:,} more.")
    if left_out := len(refused) - len(others):
        parts.append(
            f"{counted(left_out, 'log record')} left out: only Claude Code and GenAI events are stored."
        )
    return " ".join(parts)


def _refused(why: TimeMachineError, encoding: str | None) -> HttpResponse:
    """What the specification asks for: 400 for what will never be taken, 429 and 503 for what may be sent again."""
    status = 400 if isinstance(why, InvalidInput) and why.status == InvalidInput.status else why.status
    code = _CODES.get(status, 2)
    if encoding == PROTOBUF:
        answer = HttpResponse(
            Status(code=code, message=why.message).SerializeToString(), content_type=PROTOBUF, status=status
        )
    else:
        answer = HttpResponse(
            json.dumps({"code": code, "message": why.message}), content_type=JSON, status=status
        )
    wait = why.facts.get("retry_after_seconds")
    if wait is not None:
        answer["Retry-After"] = str(ceil(wait))
    return answer
