"""OpenTelemetry: each action is a span, in OTLP JSON as a collector's file exporter writes it, one request per line.

Attributes follow the GenAI conventions; the complete action is in `timemachine.action`. The conventions do not know copied
steps, which other tools would count again: these have `timemachine.copied_from`, and no tokens and no cost as attributes. A span needs times, so an
action without them gets the time at which it was recorded, and `timemachine.not_recorded` lists what was missing.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import batched
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.exports import Exported, Step, line_of, text_of
from timemachine.recording.otel.pure.attributes import CACHED, COPIED, NOT_RECORDED, SAVED
from timemachine.recording.sessions.pure.corrections import is_correction

NAME: Final = "otlp_json"
TITLE: Final = "OpenTelemetry (OTLP as JSON), for tools that read traces"
ENDING: Final = ".otlp.jsonl"
MEDIA_TYPE: Final = "application/x-ndjson"
IN_A_REQUEST: Final = 200
_SPAN: Final = re.compile(r"([0-9a-f]{32})-([0-9a-f]{16})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_INTERNAL, _CLIENT = 1, 3
_ERROR: Final = 2
_OPERATIONS: Final = {
    "ask": "chat",
    "llm_call": "chat",
    "tool_call": "execute_tool",
    "find": "retrieval",
}
_TIMES: Final = ("started_at", "duration_ms")
_TOKENS: Final = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}


def parts(session: Exported) -> Iterator[bytes]:
    """Yield requests of up to `IN_A_REQUEST` spans; a session without actions is one request without spans."""
    trace = text_sha256(f"session {session.about['key']}")[:32]
    empty = True
    for some in batched(session.steps, IN_A_REQUEST, strict=False):
        spans = [_span(step, trace, session.about) for step in some]
        yield line_of(_request(spans, session.about)) + b"\n"
        empty = False
    if empty:
        yield line_of(_request([], session.about)) + b"\n"


def _request(spans: list[JsonObject], about: JsonObject) -> JsonObject:
    attributes = {"service.name": about["agent"], "timemachine.session": json.dumps(about)}
    scope = {"name": "timemachine", "version": str(about["version"])}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _pairs(attributes)},
                "scopeSpans": [{"scope": scope, "spans": spans}],
            }
        ]
    }


def _span(step: Step, trace: str, about: JsonObject) -> JsonObject:
    action = step.action
    own_trace, span = _ids(action["sequence"], action["id"], trace)
    began = parse_time(action["started_at"] or action["recorded_at"])
    ended = began + timedelta(milliseconds=action["duration_ms"] or 0)
    found: JsonObject = {
        "traceId": own_trace,
        "spanId": span,
        "name": action["name"] or action["tool"] or action["kind"],
        "kind": _CLIENT if action["kind"] in {"ask", "llm_call"} else _INTERNAL,
        "startTimeUnixNano": _nanoseconds(began),
        "endTimeUnixNano": _nanoseconds(ended),
        "attributes": _pairs(dict(_attributes(action, about))),
    }
    if step.parent is not None:
        above, parent = _ids(*step.parent, trace)
        if above == own_trace:
            found["parentSpanId"] = parent
        else:
            found["links"] = [{"traceId": above, "spanId": parent}]
    if (error := action["error"]) is not None:
        found["status"] = {"code": _ERROR, "message": error["message"] or error["type"] or ""}
    return found


def _ids(sequence: int, client_id: str | None, trace: str) -> tuple[str, str]:
    """Return trace id and span id: from the client id if it came from a span, else hashes of the trace and the sequence."""
    found = _SPAN.fullmatch(client_id or "")
    return (found[1], found[2]) if found else (trace, text_sha256(f"{trace} {sequence}")[:16])


def _attributes(action: JsonObject, about: JsonObject) -> Iterator[tuple[str, Any]]:
    yield "session.id", about["key"]
    yield "gen_ai.conversation.id", about["key"]
    yield "user.id", about["user"]
    yield "gen_ai.operation.name", _OPERATIONS.get(action["kind"])
    yield "gen_ai.agent.name", action["agent"] or about["agent"]
    yield "error.type", (action["error"] or {}).get("type")
    corrects = is_correction(action["kind"], action["prices"])
    if action["model"] is not None and not corrects:  # for other tools, it would be a call
        provider, colon, model = action["model"].partition(":")
        yield "gen_ai.provider.name", provider if colon else None
        yield "gen_ai.request.model", model if colon else action["model"]
    copied = action["copied_from"]
    yield COPIED, None if copied is None else json.dumps(copied)
    usage = action["usage"] or {}
    takes_back = corrects and any(float(each or 0) < 0 for each in (action["cost_usd"], *usage.values()))
    if copied is None and not takes_back:  # other tools have no numbers below zero
        for name, called in _TOKENS.items():
            yield called, usage.get(name)
        yield "gen_ai.usage.cost", None if action["cost_usd"] is None else float(action["cost_usd"])
    yield CACHED, action["cached"]
    yield SAVED, None if action["saved_usd"] is None else float(action["saved_usd"])
    yield NOT_RECORDED, ",".join(name for name in _TIMES if action[name] is None) or None
    if action["kind"] in {"tool_call", "tool_result"}:
        yield "gen_ai.tool.name", action["tool"]
        yield "gen_ai.tool.call.id", action["call_id"]
        yield "gen_ai.tool.call.arguments", text_of(action["input"]) or None
        yield "gen_ai.tool.call.result", text_of(action["output"]) or None
    elif action["kind"] in {"ask", "llm_call", "message"}:
        yield "gen_ai.input.messages", text_of(action["input"]) or None
        yield "gen_ai.output.messages", text_of(action["output"]) or None
    elif action["kind"] == "find":
        yield "gen_ai.retrieval.query.text", text_of(action["input"]) or None
        hits = (action["retrieval"] or {}).get("hits", [])
        documents = [{"id": hit["frame"], "score": hit["score"], "content": hit["text"]} for hit in hits]
        yield (
            "gen_ai.retrieval.documents",
            json.dumps(documents, ensure_ascii=False) if documents else None,
        )
    yield "timemachine.action", json.dumps(action, ensure_ascii=False)


def _pairs(attributes: JsonObject) -> list[JsonObject]:
    """Return attributes in OTLP's form, without those that are None."""
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def _value(value: str | float) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _nanoseconds(at: datetime) -> str:
    return str((at - _EPOCH) // timedelta(microseconds=1) * 1000)
