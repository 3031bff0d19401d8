"""The steps that a call becomes: the results of tools that its request brought, the call, and the calls of tools in its answer."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, Final

from timemachine.client.proxy.pure.bodies import Unreadable
from timemachine.client.proxy.pure.endpoints import EMBEDDINGS
from timemachine.client.proxy.pure.exchange import Exchange
from timemachine.client.proxy.pure.response import Read, read_body, read_response
from timemachine.client.proxy.pure.tools import new_results
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.llm.pure.requests.json_values import text_at
from timemachine.llm.pure.requests.neutral import ANTHROPIC
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.pure.usage import TokenUsage, anthropic_usage, openai_usage
from timemachine.recording.sessions.pure.vocabulary import OPERATION

_MILLISECONDS: Final = 1000
_IN_PARAMETERS: Final = "cache_write_1h_tokens"
"""A count that steps have in their parameters."""


def steps_of(exchange: Exchange, name: str, *, with_tools: bool = True) -> list[JsonObject]:
    """Return the actions of a call, whose own id is `name`; without steps of tools unless `with_tools`."""
    asked, unread = request_of(exchange)
    read = read_response(exchange)
    call = _call(exchange, asked, read, [each for each in (unread, read.unread) if each])
    call["id"] = name
    if not with_tools or not isinstance(asked, dict):
        return [call]
    return [*_results(exchange, asked), call, *_tool_calls(exchange, read, name)]


def request_of(exchange: Exchange) -> tuple[Any, str | None]:
    """Return the body of the request, and why it could not be read."""
    try:
        data = read_body(exchange.request, exchange.caller.secrets)
    except Unreadable as why:
        return None, f"The request was not recorded: {why}."
    try:
        return json.loads(data), None
    except (ValueError, RecursionError):
        return data.decode(errors="replace") or None, "The request is not JSON."


def _call(exchange: Exchange, asked: Any, read: Read, notes: list[str]) -> JsonObject:
    body = asked if isinstance(asked, dict) else {}
    answered = read.output if isinstance(read.output, dict) else {}
    usage = _usage(exchange, answered)
    return {
        "kind": "llm_call",
        "layer": "agent",
        "role": "agent",
        "agent": exchange.caller.agent,
        "model": _model(exchange, text_at(answered, "model") or text_at(body, "model")),
        "started_at": exchange.started_at,
        "duration_ms": round(exchange.took * _MILLISECONDS, 3) if exchange.outcome != "interrupted" else None,
        "input": asked,
        "output": read.output,
        "error": read.error,
        "parameters": _parameters(exchange, body, answered),
        "usage": usage,
        "metadata": _metadata(exchange, read, notes),
    }


def _model(exchange: Exchange, model: str | None) -> str | None:
    return model if model is None or exchange.provider is None else f"{exchange.provider}:{model}"


def _parameters(exchange: Exchange, body: JsonObject, answered: JsonObject) -> JsonObject | None:
    without = {*exchange.endpoint.content, "model"}
    settings = {name: value for name, value in body.items() if name not in without}
    if exchange.endpoint is EMBEDDINGS:
        settings[OPERATION] = "embeddings"
    return with_conditions(settings, answered) or None


def _usage(exchange: Exchange, answered: JsonObject) -> JsonObject | None:
    stated = answered.get("usage")
    if exchange.endpoint is EMBEDDINGS:
        found = openai_usage(stated)
        if found.input_tokens is not None and found.input_tokens == found.total_tokens:
            found = replace(found, output_tokens=0)  # everything was read
    elif exchange.endpoint.owner == ANTHROPIC:
        found = anthropic_usage(stated)
    else:
        answer = read_answer(answered)
        found = answer.usage if answer is not None and answer.usage is not None else TokenUsage()
    counts = {name: count for name, count in asdict(found).items() if count is not None}
    counts.pop(_IN_PARAMETERS, None)
    return counts or None


def _metadata(exchange: Exchange, read: Read, notes: list[str]) -> JsonObject:
    first = read.first_token
    found = {
        "status": exchange.status,
        "streamed": read.streamed or None,
        "time_to_first_token_ms": None if first is None else round(first * _MILLISECONDS, 3),
        "request_id": exchange.request_id,
        "retry": exchange.caller.retry or None,
        "not_recorded": " ".join(notes) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _results(exchange: Exchange, asked: JsonObject) -> Iterator[JsonObject]:
    for result in new_results(exchange.endpoint, asked):
        yield {
            "kind": "tool_result",
            "layer": "tool",
            "role": "tool",
            "agent": exchange.caller.agent,
            "id": result.id,
            "tool": result.tool,
            "call_id": result.call_id,
            "started_at": exchange.started_at,
            "output": result.output,
            "error": {"type": "tool_error"} if result.failed else None,
        }


def _tool_calls(exchange: Exchange, read: Read, parent: str) -> Iterator[JsonObject]:
    answer = read_answer(read.output) if read.error is None and isinstance(read.output, dict) else None
    for place, call in enumerate(answer.calls if answer is not None else (), start=1):
        yield {
            "kind": "tool_call",
            "layer": "tool",
            "role": "agent",
            "agent": exchange.caller.agent,
            "id": f"{parent}/{place}",
            "parent": parent,
            "tool": call.name,
            "call_id": call.id,
            "started_at": exchange.ended_at,
            "input": call.arguments,
        }
