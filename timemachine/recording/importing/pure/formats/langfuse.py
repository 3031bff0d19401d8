"""Exports of Langfuse: a trace with its observations and scores, a session of traces, or a list of either.

The report counts traces (without their contents), observations, scores and comments. A session is a Langfuse session,
or a trace without one.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    call_and_result,
    id_with_digest,
    session_draft,
    system_event,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    dollars,
    list_at,
    milliseconds_between,
    moment,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
)
from timemachine.recording.otel.pure.answers import stated_by_answer
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.kinds import EMBEDDINGS
from timemachine.recording.otel.pure.model_calls import with_cached_input
from timemachine.recording.otel.pure.sums import counted_once, own_sums
from timemachine.recording.otel.pure.usage_buckets import cost_of_buckets, usage_of_buckets
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import OPERATION

NAME: Final = "langfuse"
TITLE: Final = "Langfuse export (trace-….json or session-….json)"
_WITHIN: Final = ("observations", "scores", "comments")
_CALLS: Final[dict[str, JsonObject]] = {"GENERATION": {}, "EMBEDDING": {OPERATION: EMBEDDINGS}}
_LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


def recognises(opening: Opening) -> bool:
    """Return whether it is a trace with observations, or contains traces."""
    return any(map(_is_export, (opening.fields, *opening.records)))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the export. Raises `InvalidInput` if it contains no trace."""
    groups: dict[str, list[ActionDraft]] = {}
    traces: dict[str, JsonObject] = {}
    for record in reader.records(_is_export, "It is not a trace and does not contain one."):
        for trace, inner in _traces(record, reader):
            key = short_text_at(trace, "sessionId", "id") or ""
            traces.setdefault(key, trace)
            groups.setdefault(key, []).extend(_actions(trace, inner, reader))
    if not groups:
        raise reader.refusal("it contains no trace.")
    return reader.parsed(
        _session(reader.key(key, traces[key]), traces[key], found) for key, found in groups.items()
    )


def _is_export(record: JsonObject) -> bool:
    inner = isinstance(record.get("observations"), list) and (
        "trace" in record or "projectId" in record or "sessionId" in record or "latency" in record
    )
    first = next(iter(list_at(record, "traces")), None)
    return inner or (isinstance(first, dict) and "id" in first)


def _traces(record: JsonObject, reader: Reader) -> Iterator[tuple[JsonObject, dict[str, list[Any]]]]:
    """Yield the traces of a record, each with its observations, scores and comments."""
    if isinstance(record.get("traces"), list):
        session = short_text_at(record, "id")
        comments = list_at(record, "comments")
        for each in record["traces"]:
            if not isinstance(each, dict):
                reader.skip("It is not an object, so it is not a trace.")
                continue
            trace, inner = _split(each)
            if session and not trace.get("sessionId"):
                trace["sessionId"] = session
            inner["comments"] += comments
            yield trace, inner
            comments = []
        return
    trace, inner = _split(record)
    nested = trace.pop("trace", None)
    yield record_at(nested) or trace, inner


def _split(record: JsonObject) -> tuple[JsonObject, dict[str, list[Any]]]:
    trace = {name: value for name, value in record.items() if name not in _WITHIN}
    return trace, {name: list(list_at(record, name)) for name in _WITHIN}


def _actions(trace: JsonObject, inner: dict[str, list[Any]], reader: Reader) -> Iterator[ActionDraft]:
    """Yield the actions of a trace; ids and parents are those of Langfuse."""
    reader.use()
    top = short_text_at(trace, "id")
    yield ActionDraft(
        kind="event",
        id=top or id_with_digest("trace", trace),
        layer="agent",
        role="agent",
        name=short_text_at(trace, "name") or "trace",
        tags=tuple(each[:80] for each in list_at(trace, "tags") if isinstance(each, str)),
        started_at=moment(trace.get("timestamp")),
        input=trace.get("input"),
        output=trace.get("output"),
        source=trace,
    )
    for kind in _WITHIN:
        for record in inner[kind]:
            if not isinstance(record, dict):
                reader.skip("It is not an object.")
                continue
            reader.use()
            yield _observation(record, top) if kind == "observations" else _annotation(record, top, kind)


def _session(key: str, trace: JsonObject, found: list[ActionDraft]) -> SessionDraft:
    ids = Ids()
    given: dict[str, str] = {}
    made = []
    for action in sorted(found, key=lambda each: each.started_at or _LATEST):
        name = ids.claim(action.id or action.kind)
        given.setdefault(action.id or "", name)
        made.append(replace(action, id=name))
    placed_in_tree = []
    for action in made:
        parent = given.get(str(action.parent or ""))
        placed_in_tree.append(replace(action, parent=None if parent == action.id else parent))
    actions: list[ActionDraft] = []
    for placed in map(own_sums, counted_once(placed_in_tree)):
        actions += call_and_result(placed, ids) if placed.kind == "tool_call" else [placed]
    return session_draft(
        key,
        actions,
        name=text_at(trace, "name"),
        agent=short_text_at(trace, "name"),
        user=short_text_at(trace, "userId"),
        metadata={name: text_at(trace, name) for name in ("release", "version", "environment", "sessionId")},
    )


def _observation(record: JsonObject, trace: str | None) -> ActionDraft:
    start = moment(record.get("startTime"))
    failed = record.get("level") == "ERROR"
    base = ActionDraft(
        kind="event",
        id=short_text_at(record, "id") or id_with_digest("observation", record),
        layer="agent",
        role="agent",
        name=short_text_at(record, "name"),
        parent=short_text_at(record, "parentObservationId") or trace,
        started_at=start,
        duration_ms=milliseconds_between(start, moment(record.get("endTime"))),
        input=record.get("input"),
        output=record.get("output"),
        error_type="ERROR" if failed else None,
        error_message=text_at(record, "statusMessage") if failed else None,
        source=record,
    )
    kind = (text_at(record, "type") or "unknown").upper()
    if kind == "TOOL":
        return replace(base, kind="tool_call")
    if kind == "RETRIEVER":
        return replace(base, kind="find", layer="tool")
    details = record_at(record, "usageDetails") or record_at(record, "usage")
    counted = replace(
        base,
        model=short_text_at(record, "model"),
        usage=_usage(details),
        cost_usd=_cost(record),
    )
    if kind in _CALLS:
        requested = record_at(record, "modelParameters") | _CALLS[kind]
        parameters = with_conditions(requested, *stated_by_answer(_attributes(record)))
        return replace(counted, kind="llm_call", parameters=parameters or None)
    return replace(counted, tags=(kind.lower()[:80],))


def _attributes(record: JsonObject) -> Attributes:
    """Return the attributes of the span that the observation was made from, if it was, with its answer and usage."""
    metadata = parsed_json(record.get("metadata"))
    own = {
        "langfuse.observation.output": record.get("output"),
        "langfuse.observation.usage_details": record.get("usageDetails") or record.get("usage"),
    }
    return Attributes(record_at(metadata, "attributes") | own)


def _usage(recorded: JsonObject) -> Usage | None:
    found = usage_of_buckets(recorded)
    return None if found is None else with_cached_input(found)


def _cost(record: JsonObject) -> Decimal | None:
    """Return the cost in the record. Langfuse writes 0 for what it has no prices for, without `costDetails`."""
    total = dollars(cost_of_buckets(record_at(record, "costDetails")))
    if total is None:
        total = dollars(record.get("calculatedTotalCost", record.get("totalCost")))
    return total or (total if record_at(record, "costDetails") else None)


def _annotation(record: JsonObject, trace: str | None, kind: str) -> ActionDraft:
    called = kind.removesuffix("s")
    name = short_text_at(record, "name") or called
    client_id = short_text_at(record, "id") or id_with_digest(kind, record)
    return replace(
        system_event(name, client_id, source=record, output=record),
        parent=short_text_at(record, "observationId") or trace,
        tags=(called,),
        started_at=moment(record.get("timestamp", record.get("createdAt"))),
    )
