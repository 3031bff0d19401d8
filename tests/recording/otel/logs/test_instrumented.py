"""OpenTelemetry's SDK sends logs of an agent and of its program."""

from typing import Any

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pytest_django.live_server_helper import LiveServer

from tests.api.conftest import Program
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action, Session

CHAT: Any = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 31,
}


@pytest.mark.django_db(transaction=True)
def test_the_events_that_an_sdk_exports_have_the_messages_of_its_spans(
    live_server: LiveServer, api: Program, project: Project
) -> None:
    headers = {"authorization": f"Bearer {api.key}"}
    tracing, logging = TracerProvider(), LoggerProvider()
    tracing.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{live_server.url}/v1/traces", headers=headers))
    )
    logging.add_log_record_processor(
        BatchLogRecordProcessor(
            OTLPLogExporter(
                endpoint=f"{live_server.url}/v1/logs", headers=headers, compression=Compression.Gzip
            )
        )
    )
    logger = logging.get_logger("opentelemetry.util.genai.handler")
    with tracing.get_tracer("opentelemetry.util.genai.handler").start_as_current_span(
        "chat", attributes=CHAT
    ):
        logger.emit(LogRecord(body="Sent a request."))
        logger.emit(
            LogRecord(
                event_name="gen_ai.client.inference.operation.details",
                attributes={**CHAT, "gen_ai.input.messages": [{"role": "user", "parts": ["How long?"]}]},
            )
        )
    logging.shutdown()
    tracing.shutdown()
    call = Action.objects.get(kind="llm_call")
    answer = api.get(f"/sessions/{Session.objects.get().key}/actions/{call.sequence}").json()
    assert answer["input"] == [{"role": "user", "parts": ["How long?"]}]
    assert (call.input_tokens, Action.objects.count()) == (31, 2)
