"""Tracing is off unless it is wanted, and its packages are optional."""

import os
import subprocess
import sys

SPAN = """
from timemachine.core.tracing import JOB, parent_headers, span, trace_id
with span("run_replay", JOB, {}) as described:
    print(described.name, parent_headers(), trace_id())
print("opentelemetry.sdk" in sys.modules and sys.modules["opentelemetry.sdk"] is not None)
"""


def traced(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_without_an_address_nothing_is_imported() -> None:
    for environment in ({}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}):
        assert traced(SPAN, **environment).stdout == "run_replay {} None\nFalse\n"


def test_without_the_packages_it_is_logged_what_to_install() -> None:
    missing = "sys.modules['opentelemetry.sdk'] = None\n"
    done = traced(missing + SPAN, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert done.stdout == "run_replay {} None\nFalse\n"
    assert done.stderr.count("install timemachine[otel]") == 1


def test_a_failed_block_is_marked_without_its_message() -> None:
    failing = """
from timemachine.core import tracing
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
tracing._tracer = lambda: provider.get_tracer("x")
try:
    with tracing.span("run_replay", tracing.JOB, {}):
        raise ValueError("recorded text")
except ValueError:
    pass
"""
    printed = traced(failing).stdout
    assert '"status_code": "ERROR"' in printed
    assert "recorded text" not in printed
