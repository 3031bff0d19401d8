"""Exports of Langfuse: a trace with its observations and scores, a session of traces, or a list of either.

The report counts traces (without their contents), observations, scores and comments. A session is a Langfuse session,
or a trace without one.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    id_with_digest,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    milliseconds_between,
    moment,
    record_at,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "langfuse"
TITLE: Final = "a Langfuse export (trace-….json or session-….json)"
_WITHIN: Final = ("observations", "scores", "comments")
_LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


def recognises(opening: Opening) -> bool:
    """Return whether it is a trace with observations, or contains traces."""
    return any(map(_is_export, (opening.fields, *opening.records)))


def read(data: Contents) -> ParsedFile:
    """Return the sessions of the export. Raises `InvalidInput` if it contains no trace."""
    ledger = Ledger()
    groups: dict[str, list[tuple[dict[str, Any], ActionDraft]]] = {}
    traces: dict[str, dict[str, Any]] = {}
    for line in records_of(data, TITLE):
        if not isinstance(line, Line) or not _is_export(line.record):
            ledger.skip(line.reason if isinstance(line, Skipped) else "It is not a trace and contains none.")
            continue
        for trace, inner in _traces(line.record, ledger):
            key = short_text_at(trace, "sessionId", "id") or ""
            traces.setdefault(key, trace)
            groups.setdefault(key, []).extend(_actions(trace, inner, ledger))
    if not groups:
        raise unreadable_file(TITLE, "it contains no trace.")
    keys = Keys(NAME)
    return ledger.account(
        _session(keys.of(key or None, traces[key]), traces[key], found) for key, found in groups.items()
    )


def _is_export(record: dict[str, Any]) -> bool:
    inner = isinstance(record.get("observations"), list) and (
        "trace" in record or "projectId" in record or "sessionId" in record or "latency" in record
    )
    first = next(iter(list_at(record, "traces")), None)
    return inner or (isinstance(first, dict) and "id" in first)


def _traces(record: dict[str, Any], ledger: Ledger) -> Iterator[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Yield the traces of a record, each with its observations, scores and comments."""
    if isinstance(record.get("traces"), list):
        session = short_text_at(record, "id")
        comments = list_at(record, "comments")
        for each in record["traces"]:
            if isinstance(each, dict):
                trace, inner = _split(each)
                yield (
                    trace | ({"sessionId": session} if session and not trace.get("sessionId") else {}),
                    inner | {"comments": [*inner["comments"], *comments]},
                )
                comments = []
            else:
                ledger.skip("It is not a trace, because it is not an object.")
        return
    trace, inner = _split(record)
    yield (
        record_at(record, "trace") or {name: value for name, value in trace.items() if name != "trace"},
        inner,
    )


def _split(record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    trace = {name: value for name, value in record.items() if name not in _WITHIN}
    return trace, {name: list_at(record, name) for name in _WITHIN}


def _actions(
    trace: dict[str, Any], inner: dict[str, list[Any]], ledger: Ledger
) -> Iterator[tuple[dict[str, Any], ActionDraft]]:
    """Yield each record with its action; ids and parents are those of Langfuse."""
    ledger.use()
    top = short_text_at(trace, "id")
    yield (
        trace,
        ActionDraft(
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
        ),
    )
    for kind in _WITHIN:
        for record in inner[kind]:
            if not isinstance(record, dict):
                ledger.skip("It is not an object.")
                continue
            ledger.use()
            yield (
                record,
                _observation(record, top) if kind == "observations" else _annotation(record, top, kind),
            )


def _session(
    key: str, trace: dict[str, Any], found: list[tuple[dict[str, Any], ActionDraft]]
) -> SessionDraft:
    ids = Ids()
    given: dict[str, str] = {}
    made = []
    for _, action in sorted(found, key=lambda each: each[1].started_at or _LATEST):
        name = ids.claim(action.id or action.kind)
        given.setdefault(action.id or "", name)
        made.append(replace(action, id=name))
    actions: list[ActionDraft] = []
    for action in made:
        parent = given.get(str(action.parent or ""))
        placed = replace(action, parent=None if parent == action.id else parent)
        actions += _with_result(placed, ids) if action.kind == "tool_call" else [placed]
    return session_draft(
        key,
        actions,
        name=text_at(trace, "name"),
        agent=short_text_at(trace, "name"),
        user=short_text_at(trace, "userId"),
        metadata={name: text_at(trace, name) for name in ("release", "version", "environment", "sessionId")},
    )


def _observation(record: dict[str, Any], trace: str | None) -> ActionDraft:
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
    if kind == "GENERATION":
        return replace(
            base,
            kind="llm_call",
            model=short_text_at(record, "model"),
            parameters=record_at(record, "modelParameters") or None,
            usage=_usage(record_at(record, "usageDetails") or record_at(record, "usage")),
            cost_usd=_cost(record),
        )
    if kind == "TOOL":
        return replace(base, kind="tool_call", layer="tool", name=None, tool=base.name)
    if kind == "RETRIEVER":
        return replace(base, kind="find", layer="tool")
    return replace(base, tags=(kind.lower()[:80],))


def _with_result(call: ActionDraft, ids: Ids) -> list[ActionDraft]:
    """A tool observation holds both: the call, and under it the result."""
    result = replace(
        call,
        kind="tool_result",
        id=ids.claim(f"{call.id}/result"),
        role="tool",
        parent=call.id,
        started_at=None,
        duration_ms=None,
        input=None,
        source=None,
    )
    there = call.output is not None or call.error_type is not None
    return [replace(call, output=None, error_type=None, error_message=None), *([result] if there else [])]


def _annotation(record: dict[str, Any], trace: str | None, kind: str) -> ActionDraft:
    return ActionDraft(
        kind="event",
        id=short_text_at(record, "id") or id_with_digest(kind, record),
        layer="sys",
        role="system",
        name=short_text_at(record, "name") or kind.removesuffix("s"),
        parent=short_text_at(record, "observationId") or trace,
        tags=(kind.removesuffix("s"),),
        started_at=moment(record.get("timestamp", record.get("createdAt"))),
        output=record,
        source=record,
    )


def _usage(recorded: dict[str, Any]) -> Usage | None:
    """Langfuse does not include cached tokens in `input` and names each kind separately; we include them."""
    cached = count_at(recorded, "input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
    written = count_at(recorded, "cache_creation_input_tokens", "input_cache_creation")
    fresh = count_at(recorded, "input", "promptTokens", "input_tokens")
    read = None if fresh is None else fresh + (cached or 0) + (written or 0)
    found = Usage(
        input_tokens=read,
        output_tokens=count_at(recorded, "output", "completionTokens", "output_tokens"),
        total_tokens=count_at(recorded, "total", "totalTokens"),
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=count_at(recorded, "output_reasoning_tokens"),
    )
    return None if found == Usage() else found


def _cost(record: dict[str, Any]) -> Any:
    total = record_at(record, "costDetails").get("total")
    return dollars(record.get("calculatedTotalCost", record.get("totalCost")) if total is None else total)
