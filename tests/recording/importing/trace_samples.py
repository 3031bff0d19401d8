"""One sample of each trace format: LangSmith, Langfuse, Inspect and OTLP."""

import json
from typing import Any

from tests.recording.importing.sample_files import archive, document

LANGSMITH: list[dict[str, Any]] = [
    {
        "id": "r1",
        "trace_id": "r1",
        "dotted_order": "1",
        "name": "answer",
        "run_type": "chain",
        "inputs": {"question": "Who?"},
        "outputs": {"answer": "Zoë"},
        "start_time": "2026-03-01T10:00:00.000000",
        "end_time": "2026-03-01T10:00:04.000000",
        "extra": {"metadata": {"thread_id": "t1"}},
        "tags": ["prod"],
        "session_id": "project",
    },
    {
        "id": "r3",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "dotted_order": "1.3",
        "name": "ChatModel",
        "run_type": "llm",
        "inputs": {"messages": []},
        "outputs": {"generations": []},
        "start_time": "2026-03-01T10:00:02",
        "end_time": "2026-03-01T10:00:03.500000",
        "prompt_tokens": 50,
        "completion_tokens": 5,
        "total_tokens": 55,
        "total_cost": "0.0012",
        "extra": {
            "metadata": {"thread_id": "t1", "ls_provider": "openai", "ls_model_name": "gpt-x"},
            "invocation_params": {"temperature": 0},
        },
    },
    {
        "id": "r2",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "dotted_order": "1.2",
        "name": "search",
        "run_type": "retriever",
        "inputs": {"query": "Who?"},
        "outputs": {
            "documents": [
                {"page_content": "Zoë did.", "metadata": {"source": "a.md", "score": 0.9, "id": "f1"}},
                "odd",
            ]
        },
        "start_time": "2026-03-01T10:00:01",
        "end_time": "2026-03-01T10:00:02",
        "extra": {"metadata": {"thread_id": "t1"}},
    },
    {
        "id": "r4",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "name": "lookup",
        "run_type": "tool",
        "inputs": {"input": "7"},
        "outputs": None,
        "error": "ValueError('no 7')",
        "start_time": "2026-03-01T10:00:03.600000",
        "end_time": None,
        "extra": {"metadata": {"thread_id": "t1"}},
    },
]


LANGFUSE_TRACE: dict[str, Any] = {
    "trace": {
        "id": "tr1",
        "name": "chat",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "sessionId": "ls1",
        "userId": "u7",
        "input": "Who?",
        "output": "Zoë",
        "tags": ["prod"],
    },
    "observations": [
        {
            "id": "o2",
            "traceId": "tr1",
            "parentObservationId": "o1",
            "type": "GENERATION",
            "name": "answer",
            "startTime": "2026-03-01T10:00:02.000Z",
            "endTime": "2026-03-01T10:00:03.000Z",
            "model": "gpt-x",
            "modelParameters": {"temperature": 0},
            "input": [{"role": "user", "content": "Who?"}],
            "output": {"content": "Zoë"},
            "usageDetails": {"input": 20, "input_cached_tokens": 80, "output": 5, "total": 105},
            "costDetails": {"total": 0.003},
        },
        {
            "id": "o1",
            "traceId": "tr1",
            "type": "SPAN",
            "name": "flow",
            "startTime": "2026-03-01T10:00:01.000Z",
            "endTime": "2026-03-01T10:00:04.000Z",
        },
        {
            "id": "o3",
            "type": "TOOL",
            "name": "find",
            "startTime": "2026-03-01T10:00:02.500Z",
            "input": 7,
            "output": 8,
        },
        {
            "id": "o4",
            "type": "RETRIEVER",
            "name": "search",
            "startTime": "2026-03-01T10:00:01.500Z",
            "level": "ERROR",
            "statusMessage": "index is gone",
        },
    ],
    "scores": [
        {
            "id": "s1",
            "name": "helpful",
            "value": 1,
            "traceId": "tr1",
            "timestamp": "2026-03-01T10:01:00.000Z",
        },
        {"id": "s2", "name": "exact", "value": 0, "traceId": "tr1", "observationId": "o2"},
    ],
}


LANGFUSE_SESSION = {
    "id": "ls2",
    "traces": [
        {
            "id": "tr2",
            "name": "chat",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "observations": [],
            "scores": [],
        },
        {"id": "tr3", "timestamp": "2026-03-01T10:05:00.000Z"},
    ],
    "comments": [{"id": "c1", "content": "Look at this", "createdAt": "2026-03-01T11:00:00.000Z"}],
}


INSPECT_SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "input": "Who is 7?",
    "target": "Zoë",
    "messages": [
        {"id": "m1", "role": "user", "content": "Who is 7?"},
        {
            "id": "m2",
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "k1", "function": "find_user", "arguments": {"id": 7}, "type": "function"}],
        },
        {"id": "m3", "role": "tool", "tool_call_id": "k1", "function": "find_user", "content": "Zoë"},
        {"id": "m4", "role": "assistant", "content": "Zoë."},
    ],
    "events": [
        {"event": "sample_init", "timestamp": "2026-03-01T10:00:00+00:00", "sample": {"input": "Who is 7?"}},
        {
            "event": "model",
            "timestamp": "2026-03-01T10:00:01+00:00",
            "model": "openai/gpt-x",
            "input": [{"role": "user", "content": "Who is 7?"}],
            "config": {"temperature": 0},
            "output": {
                "model": "gpt-x",
                "choices": [
                    {"message": {"id": "m2", "role": "assistant", "content": ""}, "stop_reason": "tool_calls"}
                ],
                "usage": {
                    "input_tokens": 20,
                    "output_tokens": 5,
                    "total_tokens": 105,
                    "input_tokens_cache_read": 80,
                },
                "time": 1.5,
            },
        },
        {
            "event": "tool",
            "timestamp": "2026-03-01T10:00:03+00:00",
            "completed": "2026-03-01T10:00:04+00:00",
            "working_time": 0.9,
            "id": "k1",
            "function": "find_user",
            "arguments": {"id": 7},
            "result": "Zoë",
        },
        {
            "event": "model",
            "timestamp": "2026-03-01T10:00:05+00:00",
            "model": "openai/gpt-x",
            "output": {
                "choices": [{"message": {"id": "m4", "role": "assistant", "content": "Zoë."}}],
                "usage": {
                    "input_tokens": 100,
                    "output_tokens": 5,
                    "total_tokens": 105,
                    "input_tokens_cache_read": 80,
                },
            },
        },
        {"event": "score", "timestamp": "2026-03-01T10:00:06+00:00", "score": {"value": "C"}},
        {"event": "error", "error": {"message": "lost"}},
    ],
    "scores": {"match": {"value": "C"}},
    "output": {"choices": []},
    "model_usage": {"openai/gpt-x": {"input_tokens": 120, "output_tokens": 10, "total_tokens": 290}},
    "total_time": 6.5,
}


INSPECT_HEAD = {
    "version": 2,
    "status": "success",
    "eval": {
        "eval_id": "ev1",
        "task": "users",
        "model": "openai/gpt-x",
        "created": "2026-03-01T10:00:00+00:00",
    },
    "plan": {},
    "results": {"total_samples": 2},
    "stats": {},
}


INSPECT_PLAIN_SAMPLE = {name: value for name, value in INSPECT_SAMPLE.items() if name != "events"} | {"id": 2}


INSPECT = INSPECT_HEAD | {"samples": [INSPECT_SAMPLE, INSPECT_PLAIN_SAMPLE]}


INSPECT_EVAL = archive(
    {
        "_journal/start.json": {"version": 2},
        "samples/1_epoch_1.json": INSPECT_SAMPLE,
        "samples/2_epoch_1.json": INSPECT_PLAIN_SAMPLE,
        "summaries.json": [],
        "header.json": INSPECT_HEAD,
    }
)


_BEGAN = 1_760_000_000_000_000_000


def otlp_span(number: int, parent: int = 0, /, **attributes: str) -> dict[str, Any]:
    """A span of trace 1 in OTLP JSON."""
    return {
        "traceId": f"{1:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(_BEGAN + number * 1_000_000),
        "endTimeUnixNano": str(_BEGAN + (number + 1) * 1_000_000),
        "attributes": [
            {"key": name.replace("__", "."), "value": {"stringValue": content}}
            for name, content in attributes.items()
        ],
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """A request with these spans."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "desk"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def trace(*spans: dict[str, Any]) -> bytes:
    """Spans of one trace with these attributes: the first is the root, the others are inside it. `name` and `events` are not
    attributes."""
    made = []
    for number, attributes in enumerate(spans, start=1):
        events = attributes.get("events", {})
        own = {name: value for name, value in attributes.items() if name not in {"name", "events"}}
        made.append(
            {
                "traceId": f"{1:032x}",
                "spanId": f"{number:016x}",
                "parentSpanId": f"{1:016x}" if number > 1 else "",
                "name": attributes.get("name", f"span {number}"),
                "startTimeUnixNano": str(_BEGAN + number),
                "endTimeUnixNano": str(_BEGAN + number + 1_000_000),
                "attributes": _attributes(own),
                "events": [
                    {"name": name, "timeUnixNano": str(_BEGAN), "attributes": _attributes(value)}
                    for name, value in events.items()
                ],
            }
        )
    return document(otlp(*made))


OTLP_CHILD = otlp(
    otlp_span(2, 1, gen_ai__operation__name="chat", gen_ai__output__messages="Hello"), otlp_span(9, 7)
)


OTLP_ROOT = otlp(otlp_span(1, session__id="talk", user__id="ann", gen_ai__agent__name="desk"))
