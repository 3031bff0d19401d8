"""Traces of Time Machine itself: requests, and the jobs that they enqueue. They are sent if OpenTelemetry has an address for them.

The packages of OpenTelemetry are optional, and are not imported without need.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

log = logging.getLogger(__name__)

REQUEST, JOB = "SERVER", "CONSUMER"
"""Kinds of spans, as OpenTelemetry names them."""
_PARENT: Final = ("traceparent", "tracestate")
_PACKAGES: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


@dataclass(slots=True, kw_only=True)
class Described:
    """What a span says: its name, attributes without any name of the record, and whether it failed."""

    name: str
    attributes: dict[str, str | int] = field(default_factory=dict)
    failed: bool = False


@contextmanager
def span(name: str, kind: str, parent: Mapping[str, str]) -> Iterator[Described]:
    """Trace the block. What it changes in the `Described` that it gets is written at its end.

    `parent` can have the headers `traceparent` and `tracestate` of whatever caused this.
    """
    described = Described(name=name)
    tracer = _tracer()
    if tracer is None:
        yield described
        return
    from opentelemetry import propagate
    from opentelemetry.trace import SpanKind

    carrier = {each: parent[each] for each in _PARENT if each in parent}
    context = propagate.extract(carrier)
    # an exception is not recorded, because its message could quote recorded text
    with tracer.start_as_current_span(
        name, context, SpanKind[kind], record_exception=False, set_status_on_exception=False
    ) as here:
        try:
            yield described
        except BaseException:
            described.failed = True
            raise
        finally:
            _describe(here, described)


def parent_headers() -> dict[str, str]:
    """Return the headers with which a message continues the current trace; none outside of a trace."""
    headers: dict[str, str] = {}
    if _tracer() is not None:
        from opentelemetry import propagate

        propagate.inject(headers)
    return {name: value for name, value in headers.items() if name in _PARENT}


def trace_id() -> str | None:
    """Return the id of the current trace in hexadecimal digits; None outside of a trace."""
    if _tracer() is None:
        return None
    from opentelemetry.trace import format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else None


def _describe(here: "Span", described: Described) -> None:
    from opentelemetry.trace import StatusCode

    here.update_name(described.name)
    here.set_attributes(described.attributes)
    if described.failed:
        here.set_status(StatusCode.ERROR)


def _is_wanted() -> bool:
    addresses = (
        os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
        os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""),
    )
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return any(each.strip() for each in addresses) and not off


def _is_installed() -> bool:
    try:
        return all(find_spec(each) is not None for each in _PACKAGES)
    except ModuleNotFoundError:  # not even the package that contains it
        return False


@cache
def _tracer() -> "Tracer | None":
    """Return what makes spans, sent in the background, or None if nobody wants them."""
    if not _is_wanted():
        return None
    if not _is_installed():
        log.warning(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent: install timemachine[otel] for them."
        )
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    process = os.environ.get("TIMEMACHINE_PROCESS", "").strip() or "web"
    name = os.environ.get("OTEL_SERVICE_NAME", "").strip() or f"timemachine-{process}"
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("timemachine")
