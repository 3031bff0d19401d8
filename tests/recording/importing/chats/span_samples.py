"""Samples of spans of Phoenix, with OpenInference attributes: rows of a data frame, and objects of the REST API."""

from typing import Any

_TRACE = "0af7651916cd43dd8448eb211c80319c"
PHOENIX_API: dict[str, Any] = {
    "data": [
        {
            "id": "U3BhbjoxMA==", "name": "agent", "context": {"trace_id": _TRACE, "span_id": "b7ad6b7169203331"},
            "span_kind": "AGENT", "parent_id": None, "start_time": "2026-03-01T10:00:00+00:00",
            "end_time": "2026-03-01T10:00:04+00:00", "status_code": "OK", "status_message": "",
            "attributes": {"session.id": "ph1", "input.value": "Who is 7?", "metadata": {"team": "a"}}, "events": [],
        },
        {
            "id": "U3BhbjoxMQ==", "name": "ChatCompletion", "context": {"trace_id": _TRACE, "span_id": "b7ad6b7169203332"},
            "span_kind": "LLM", "parent_id": "b7ad6b7169203331", "start_time": "2026-03-01T10:00:01+00:00",
            "end_time": "2026-03-01T10:00:02.500000+00:00", "status_code": "OK", "status_message": "",
            "attributes": {
                "llm": {
                    "model_name": "gpt-x", "provider": "openai", "token_count": {"prompt": 50, "completion": 5, "total": 55},
                    "input_messages": [{"message": {"role": "user", "content": "Who is 7?"}}],
                },
                "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "I look.",
            },
            "events": [],
        },
        {
            "id": "U3BhbjoxMg==", "name": "find", "context": {"trace_id": _TRACE, "span_id": "b7ad6b7169203333"},
            "span_kind": "TOOL", "parent_id": "b7ad6b7169203331", "start_time": "2026-03-01T10:00:03+00:00",
            "end_time": "2026-03-01T10:00:04+00:00", "status_code": "ERROR", "status_message": "no 7",
            "attributes": {"tool.name": "find", "input.value": '{"id": 7}'},
            "events": [{"name": "exception", "timestamp": "2026-03-01T10:00:04+00:00",
                        "attributes": {"exception.type": "KeyError", "exception.message": "no 7"}}, "half"],
        },
    ],
    "next_cursor": None,
}  # fmt: skip


def _row(span: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    plain = {name: span[name] for name in span if name not in {"id", "context", "attributes"}}
    context = {f"context.{name}": value for name, value in span["context"].items()}
    return {**plain, **context, **{f"attributes.{name}": value for name, value in attributes.items()}}


_AGENT, _CALL, _TOOL = PHOENIX_API["data"]
PHOENIX_ROWS: list[dict[str, Any]] = [
    _row(_AGENT, **_AGENT["attributes"], **{"llm.model_name": None}),
    _row(
        _CALL,
        **{
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-x",
            "llm.provider": "openai",
            "llm.token_count.prompt": 50,
            "llm.token_count.completion": 5,
            "llm.input_messages": [{"message.role": "user", "message.content": "Who is 7?"}],
        },
    ),
    {name: value for name, value in _row(_TOOL, **_TOOL["attributes"]).items() if name != "latency_ms"},
]
