"""Spans of Phoenix: rows of its data frames or objects of its REST API, as JSON lines, a list, or an object with `data`
or `spans`.

`context.trace_id` and `attributes.…` are columns or nested objects. The attributes have OpenInference names; spans are
read as spans that are sent to `/v1/traces`. The report counts spans.

Source: `Span` in the OpenAPI document of Arize-ai/phoenix, and its `get_spans_dataframe`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import id_with_digest
from timemachine.recording.importing.pure.formats.otlp_json import sessions_of_spans
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    list_at,
    moment,
    moment_after_1970,
    number,
    record_at,
    short_text_at,
    text_at,
)
from timemachine.recording.otel.pure.span import STATUS_ERROR, Span, SpanEvent
from timemachine.recording.sessions.pure.validation import key_of

NAME: Final = "phoenix"
TITLE: Final = "Phoenix spans (.jsonl, JSON list, or object with data)"
_KIND: Final = "openinference.span.kind"
_PREFIX: Final = "attributes."
_WHOLE: Final = frozenset({"metadata", "llm.invocation_parameters", "tool.parameters", "tag.tags"})
"""Attributes whose values are objects or lists as they are."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""From which number on a time is in nanoseconds, microseconds and milliseconds; pandas writes milliseconds."""
_DEEPEST: Final = 30


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a span with a context."""
    return any(map(_is_span, (*opening.records_inside("data"), *opening.records_inside("spans"))))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions that the spans name. Raises `InvalidInput` (`unknown_format`) if there are no spans."""
    return sessions_of_spans(reader, _spans(reader))


def _spans(reader: Reader) -> Iterator[Span]:
    for record in reader.records(
        lambda each: _is_span(each) or _is_page(each),
        "It has no `context.trace_id`, so it is not a span.",
        inside="data",
    ):
        if _is_span(record):
            yield _span(record)
            continue
        for each in (*list_at(record, "data"), *list_at(record, "spans")):
            if isinstance(each, dict) and _is_span(each):
                yield _span(each)
            else:
                reader.skip("It has no `context.trace_id`, so it is not a span.")


def _is_span(record: JsonObject) -> bool:
    trace = text_at(record, "context.trace_id") or text_at(record_at(record, "context"), "trace_id")
    return trace is not None and "name" in record and ("start_time" in record or "parent_id" in record)


def _is_page(record: JsonObject) -> bool:
    return bool(list_at(record, "data") or list_at(record, "spans"))


def _span(record: JsonObject) -> Span:
    context = record_at(record, "context")
    attributes = {name: value for name, value in _attributes(record) if value is not None}
    kind = text_at(record, "span_kind")
    if kind is not None:
        attributes.setdefault(_KIND, kind)
    known = {
        "name",
        "context",
        "parent_id",
        "start_time",
        "end_time",
        "status_code",
        "status_message",
        "attributes",
        "events",
    }
    more = {
        name: value
        for name, value in record.items()
        if value is not None and name not in known and not name.startswith((_PREFIX, "context."))
    }
    named = short_text_at(record, "context.span_id") or short_text_at(context, "span_id")
    return Span(
        trace=key_of(text_at(record, "context.trace_id") or text_at(context, "trace_id") or "trace", NAME),
        id=named or id_with_digest("span", record),
        parent=short_text_at(record, "parent_id"),
        name=text_at(record, "name") or "",
        began=_nanoseconds(record.get("start_time")),
        ended=_nanoseconds(record.get("end_time")),
        attributes=attributes,
        events=tuple(_event(each) for each in list_at(record, "events") if isinstance(each, dict)),
        status=STATUS_ERROR if text_at(record, "status_code") == "ERROR" else 0,
        status_message=text_at(record, "status_message") or "",
        more={"phoenix": more} if more else {},
    )


def _event(event: JsonObject) -> SpanEvent:
    return SpanEvent(
        name=text_at(event, "name") or "event",
        at=_nanoseconds(event.get("timestamp")),
        attributes=record_at(event, "attributes"),
    )


def _attributes(record: JsonObject) -> Iterator[tuple[str, Any]]:
    """Yield the attributes by their full names, those in lists with their places, as they are sent."""
    for name, value in record.items():
        if name == "attributes" and isinstance(value, dict):
            for inner, each in value.items():
                yield from _flat(inner, each)
        elif name.startswith(_PREFIX):
            yield from _flat(name.removeprefix(_PREFIX), value)


def _flat(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    inside: Any = ()
    if name not in _WHOLE and depth < _DEEPEST:
        if isinstance(value, dict):
            inside = value.items()
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            inside = enumerate(value)
    if not inside:
        yield name, value
    for key, each in inside:
        yield from _flat(f"{name}.{key}", each, depth + 1)


def _nanoseconds(value: Any) -> int:
    """Return a time in nanoseconds since 1970, 0 if the value is no time."""
    found = moment(value, offset_missing=True)
    amount = number(value)
    if found is None and amount is not None:
        unit = next((each for least, each in _UNITS if amount >= least), 1.0)
        found = moment_after_1970(value, seconds_each=unit)
    return 0 if found is None else max(0, (found - _EPOCH) // timedelta(microseconds=1) * 1000)
