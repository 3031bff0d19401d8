"""Record what a framework sends to OpenTelemetry: call `record()` once, before agents are made.

Spans are committed to the spool of the recorder before they are sent, so that none is lost while the server is unreachable. OpenTelemetry's own
exporter retries for some seconds and then drops them.
"""

import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from timemachine.client.integrations.sessions import shared_machine
from timemachine.client.machine import TimeMachine

_IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
_SOON: Final = 200  # milliseconds that spans wait in memory


def record(machine: TimeMachine | None = None, *, name: str | None = None) -> TracerProvider:
    """Record the spans of this process. `name` is the name of the service. If a provider is set already, it gets our exporter."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider(resource=Resource.create({"service.name": name} if name else {}))
        trace.set_tracer_provider(provider)
    provider.add_span_processor(BatchSpanProcessor(Exporter(machine), schedule_delay_millis=_SOON))
    return provider


class Exporter(SpanExporter):
    """An exporter of spans into the spool. Use it in a span processor of your own, or call `record`."""

    def __init__(self, machine: TimeMachine | None = None) -> None:
        self._spans = (machine or shared_machine()).spans()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Commit spans to the spool."""
        found = MessageToDict(encode_spans(spans)).get("resourceSpans", [])
        lines = [json.dumps(_with_hex_ids(each), separators=(",", ":")).encode() for each in found]
        return SpanExportResult.SUCCESS if self._spans.add(lines) else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait for the delivery; returns whether it is complete."""
        return self._spans.flush(timeout_millis / 1e3)

    def shutdown(self) -> None:
        """Nothing: the end of the process delivers what it can, and the rest waits in the spool."""


def _with_hex_ids(value: Any) -> Any:
    """The value with ids as OTLP writes them in JSON."""
    if isinstance(value, list):
        return [_with_hex_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: b64decode(each).hex() if name in _IDS else _with_hex_ids(each) for name, each in value.items()
    }
