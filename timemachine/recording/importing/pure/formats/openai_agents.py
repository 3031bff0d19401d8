"""Traces of the OpenAI Agents SDK, as its exporters write them: `trace` and `trace.span` objects.

JSON lines, a list, or an object with `data`, as it is sent to OpenAI. The forms are those of
https://github.com/openai/openai-agents-python/tree/main/src/agents/tracing. The report counts traces and spans. Traces
with one `group_id` are one session.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.drafts import Ids, call_and_result, session_draft
from timemachine.recording.importing.pure.model_turns import speaker
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    first_at,
    list_at,
    milliseconds_between,
    moment,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "openai_agents"
TITLE: Final = "OpenAI Agents SDK traces (.jsonl, JSON list, or object with data)"
_STORED: Final = ("previous_response_id", "conversation")
"""What a request continues that OpenAI stored."""
_TRACE: Final = "trace"
_SPAN: Final = "trace.span"
_CALLS: Final = frozenset({"generation", "response", "transcription", "speech"})
_READ: Final = {"user": "user", "system": "system", "developer": "system"}


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a trace or a span of the SDK."""
    return any(map(_is_known, opening.records_inside("data")))


def read(reader: Reader) -> ParsedFile:
    """Return a session per group, else per trace. Raises `InvalidInput` (`unknown_format`) if there are no traces."""
    records: list[JsonObject] = []
    written: set[bytes] = set()
    for each in reader.records(_is_known, "It is neither a trace nor a span.", inside="data"):
        whole = canonical_json(each)
        if "id" in each and whole in written:
            reader.skip("It repeats an earlier trace or span.")
            continue
        written.add(whole)
        reader.use()
        records.append(each)
    if not records:
        raise reader.refusal("it has no traces and no spans.")
    groups = {
        trace: group
        for each in records
        if each["object"] == _TRACE
        and (trace := text_at(each, "id"))
        and (group := short_text_at(each, "group_id"))
    }
    sessions: dict[str, list[JsonObject]] = {}
    for each in records:
        trace = text_at(each, "id" if each["object"] == _TRACE else "trace_id") or ""
        sessions.setdefault(groups.get(trace, trace), []).append(each)
    return reader.parsed(_session(name, found, reader) for name, found in sessions.items())


def _is_known(record: JsonObject) -> bool:
    return record.get("object") == _TRACE or (
        record.get("object") == _SPAN and isinstance(record.get("span_data"), dict)
    )


def _session(name: str, records: Sequence[JsonObject], reader: Reader) -> SessionDraft:
    """Return the session. The exporter writes a span when it ends, so they are sorted by their starts."""
    traces = [each for each in records if each["object"] == _TRACE]
    spans = sorted((each for each in records if each["object"] == _SPAN), key=_start)
    agents = _agents(spans)
    ids = Ids()
    claimed = {
        id(each): ids.claim(short_text_at(each, "id") or f"span-{place}")
        for place, each in enumerate(spans, 1)
    }
    by_span = {text_at(each, "id"): claimed[id(each)] for each in spans}
    actions = [_trace(each, ids) for each in traces]
    seen: set[bytes] = set()
    for span in spans:
        parent = by_span.get(text_at(span, "parent_id"))
        base = _base(span, claimed[id(span)], parent if parent != claimed[id(span)] else None, agents)
        actions += _span(base, span["span_data"], seen, ids)
    return session_draft(
        reader.key(name[:200], records),
        actions,
        name=next((text for each in traces if (text := text_at(each, "workflow_name"))), None),
        agent=next((agent for agent in agents.values() if agent), None),
        metadata=record_at(traces[0], "metadata") if traces else None,
    )


def _start(span: JsonObject) -> str:
    return text_at(span, "started_at") or ""


def _agents(spans: Sequence[JsonObject]) -> dict[str | None, str | None]:
    """Return the agent of each span: its own name, or that of the nearest agent around it."""
    found: dict[str | None, str | None] = {}
    for span in spans:
        data = span["span_data"]
        own = short_text_at(data, "name") if data.get("type") == "agent" else None
        found[text_at(span, "id")] = own or found.get(text_at(span, "parent_id"))
    return found


def _trace(trace: JsonObject, ids: Ids) -> ActionDraft:
    return ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(trace, "id") or _TRACE),
        layer="sys",
        role="system",
        name=_TRACE,
        output={name: value for name, value in trace.items() if name != "object"},
        source=trace,
    )


def _base(
    span: JsonObject, client_id: str, parent: str | None, agents: dict[str | None, str | None]
) -> ActionDraft:
    started = moment(span.get("started_at"), offset_missing=True)
    failure = span.get("error")
    return ActionDraft(
        kind="event",
        id=client_id,
        layer="sys",
        role="system",
        agent=agents.get(text_at(span, "id")),
        parent=parent,
        started_at=started,
        duration_ms=milliseconds_between(started, moment(span.get("ended_at"), offset_missing=True)),
        error_type="error" if failure else None,
        error_message=text_at(failure, "message"),
        source=span,
    )


def _span(base: ActionDraft, data: JsonObject, seen: set[bytes], ids: Ids) -> list[ActionDraft]:
    kind = text_at(data, "type") or "unknown"
    if kind == "function":
        call = replace(
            base,
            role="agent",
            name=short_text_at(data, "name"),
            input=parsed_json(data.get("input")),
            output=data.get("output"),
        )
        return call_and_result(call, ids)
    if kind in _CALLS:
        call = _call(base, data)
        return [*_messages(call, data, seen, ids), call, *_answers(call, ids)]
    return [
        replace(
            base,
            name=(short_text_at(data, "name") or kind)[:80] if kind == "custom" else kind[:80],
            output=data,
        )
    ]


def _call(base: ActionDraft, data: JsonObject) -> ActionDraft:
    """Return the model call. A `response` has only its id and tokens, unless another processor wrote the response."""
    response = record_at(data, "response")
    config = record_at(data, "model_config")
    name = text_at(data, "response_id") or text_at(response, "id")
    output = first_at({**response, **data}, "output")
    named = {"response_id": name} if name else None
    stored = {each: response[each] for each in _STORED if response.get(each)}
    return replace(
        base,
        kind="llm_call",
        layer="agent",
        role="agent",
        model=short_text_at(data, "model") or short_text_at(response, "model"),
        parameters=with_conditions({**config, **stored}, response, data) or None,
        usage=_usage(record_at(data, "usage")) or _usage(record_at(response, "usage")),
        input=data.get("input"),
        output=output or named,
        metadata=named if output else None,
    )


def _usage(usage: JsonObject) -> Usage | None:
    found = usage_of(
        usage, read=["input_tokens", "prompt_tokens"], written=["output_tokens", "completion_tokens"]
    )
    if found is None:
        return None
    read = record_at(usage, "input_tokens_details") or record_at(usage, "prompt_tokens_details")
    wrote = record_at(usage, "output_tokens_details") or record_at(usage, "completion_tokens_details")
    return replace(
        found,
        cached_tokens=count_at(read, "cached_tokens"),
        reasoning_tokens=count_at(wrote, "reasoning_tokens"),
    )


def _messages(call: ActionDraft, data: JsonObject, seen: set[bytes], ids: Ids) -> Iterator[ActionDraft]:
    """Yield what users and the system wrote, once: every call repeats the conversation before it."""
    given = data.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else list_at(data, "input")
    for message in messages:
        role = _READ.get(text_at(message, "role") or "")
        written = canonical_json(message)
        if role is None or written in seen:
            continue
        seen.add(written)
        content = message.get("content")
        yield replace(
            speaker(role, _without_result(call)),
            id=ids.claim(f"{call.id}/read"),
            agent=None,
            output=text_of_content(content) or content,
        )


def _answers(call: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    """Yield the texts that the model wrote. Its tool calls are spans of their own."""
    for message in call.output if isinstance(call.output, list) else []:
        text = text_of_content(message.get("content")) if isinstance(message, dict) else None
        if text:
            yield replace(
                speaker("agent", _without_result(call)),
                id=ids.claim(f"{call.id}/text"),
                parent=call.id,
                agent=call.agent,
                output=text,
            )


def _without_result(call: ActionDraft) -> ActionDraft:
    """Return a step at the time of the call, without what is the call's own."""
    return ActionDraft(kind="message", parent=call.parent, agent=call.agent, started_at=call.started_at)
