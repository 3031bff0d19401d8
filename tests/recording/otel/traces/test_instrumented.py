"""An agent instrumented with OpenTelemetry's SDK and OpenInference, running against a stub model."""

import openai
import pytest
from openinference.instrumentation import using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import StatusCode
from pytest_django.live_server_helper import LiveServer

from tests.api.conftest import Program
from tests.recording.otel.traces.conftest import recorded
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action

MODEL = "gpt-4o-mini"


@pytest.mark.django_db(transaction=True)
def test_the_steps_of_an_instrumented_agent_are_recorded(
    live_server: LiveServer, api: Program, project: Project
) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "desk"}))
    exporter = OTLPSpanExporter(
        endpoint=f"{live_server.url}/v1/traces",
        headers={"authorization": f"Bearer {api.key}"},
        compression=Compression.Gzip,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    tracer = provider.get_tracer("an agent")
    try:
        with StubModelServer() as stub:
            stub.script(
                Script(
                    answer="Ten years.",
                    usage={"prompt_tokens": 31, "completion_tokens": 4, "total_tokens": 35},
                )
            )
            client = openai.OpenAI(base_url=f"{stub.url}/v1", api_key="none")
            with using_session("talk-1"), tracer.start_as_current_span("answer"):
                client.chat.completions.create(
                    model=MODEL,
                    messages=[{"role": "user", "content": "How long are invoices kept?"}],
                    temperature=0,
                )
                with tracer.start_as_current_span(
                    "look", attributes={"openinference.span.kind": "TOOL"}
                ) as span:
                    span.record_exception(ValueError("no such file"))
                    span.set_status(StatusCode.ERROR)
        provider.shutdown()
    finally:
        instrumentor.uninstrument()
    found = recorded(project)["talk-1"]
    assert [each[1:] for each in found["actions"]] == [
        ("llm_call", "answer"),
        ("event", None),
        ("tool_call", "answer"),
    ]
    call = Action.objects.get(kind="llm_call")
    assert (call.model, call.input_tokens, call.output_tokens) == (f"openai:{MODEL}", 31, 4)
    assert call.cost_usd is not None
    assert call.duration_ms is not None
    failed = Action.objects.get(kind="tool_call")
    assert (failed.error_type, failed.error_message) == ("ValueError", "no such file")
    answer = api.get(f"/sessions/talk-1/actions/{call.sequence}").json()
    assert answer["output"] == "Ten years."
    assert answer["input"] == [{"role": "user", "content": "How long are invoices kept?"}]
    assert answer["parameters"]["temperature"] == 0
