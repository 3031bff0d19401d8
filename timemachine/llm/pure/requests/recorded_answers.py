"""The answer in the recorded output of a model call, in whatever form the recording has."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.answers import Answer, read_chat, read_responses
from timemachine.llm.pure.requests.json_values import RequestError, checked, object_at, text_at
from timemachine.llm.pure.requests.neutral import Message, Part, Text
from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.llm.pure.requests.responses_items import read_items

_CALLS: Final = ("tool_calls", "tool_requests", "toolCalls")
_CONTENT: Final = ("content", "message", "text")
_OTHERS: Final = ("refusal", "reasoning_content", "function_call")
_REASONS: Final = ("stop_reason", "finish_reason", "finishReason")
_ITEMS: Final = frozenset({"message", "function_call", "custom_tool_call"})


def read_answer(value: object) -> Answer | None:
    """Return the answer in a recorded output, None if it is in no known form.

    The output is a text, the response of an API, a message, a list of messages, or an object with the content and the
    calls of a message. A text is the answer even if it is JSON, except if it is the calls of Vercel's AI SDK.
    """
    try:
        checked(value)
        return _read(value)
    except RequestError:
        return None


def _read(value: object) -> Answer | None:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, dict):
        return _of_object(value)
    return _of_list(value) if isinstance(value, list) and value else None


def _of_text(text: str) -> Answer:
    if text.lstrip().startswith("["):
        try:
            calls = json.loads(text)
            checked(calls)
        except (ValueError, RecursionError, RequestError):
            calls = None
        if calls and all(
            isinstance(call, dict) and {"toolCallId", "toolName"} <= call.keys() for call in calls
        ):
            return _answer(read_messages([{"role": "assistant", "tool_calls": calls}]) or (), {})
    return Answer(parts=(Text(text),) if text else ())


def _of_list(values: Sequence[Any]) -> Answer | None:
    first = values[0]
    if isinstance(first, list):
        return _of_list(first) if first else None
    if _has_items(values):
        return _answer(read_items([*values]), {})
    messages = read_messages(values) if isinstance(first, dict) else None
    return None if messages is None else _answer(messages, first)


def _of_first(values: Sequence[Any]) -> Answer | None:
    """Return the first of several answers to the same request."""
    first = values[0]
    if isinstance(first, list):
        return _of_first(first) if first else None
    return _of_object(first) if isinstance(first, dict) else None


def _of_object(value: JsonObject) -> Answer | None:
    if isinstance(value.get("choices"), list):
        return read_chat(value)
    if isinstance(value.get("output"), list):
        return read_responses(value)
    for name, read in (("generations", _of_first), ("candidates", _of_first), ("messages", _of_list)):
        if isinstance(value.get(name), list) and value[name]:
            return read(value[name])
    inner = next((found for name in ("message", "content") if (found := object_at(value, name))), None)
    if inner is not None:
        answer = _of_object(inner)
        return answer and replace(answer, finish_reason=answer.finish_reason or _reason(value))
    return _of_message(value)


def _of_message(value: JsonObject) -> Answer | None:
    if "parts" in value or "lc" in value or "type" in value:
        messages = read_messages([{"role": "assistant", **value} if "parts" in value else value])
        if messages is not None and ("parts" in value or "lc" in value):
            return _answer(messages, value)
    stated = {name: value[name] for name in _OTHERS if value.get(name) is not None}
    content = next((value[name] for name in _CONTENT if value.get(name) is not None), None)
    calls = next((value[name] for name in _CALLS if value.get(name)), None)
    if content is None and calls is None and not stated and _reason(value) is None:
        return None
    if isinstance(content, list):
        content = [_as_block(block) for block in content]
        if _has_items(content):
            return _answer(read_items(content), value)
    message = {"role": "assistant", "content": content, **stated}
    messages = read_messages([message | ({"tool_calls": calls} if calls else {})])
    return None if messages is None else _answer(messages, value)


def _has_items(blocks: Sequence[Any]) -> bool:
    """Return whether these are items of the Responses API."""
    found = [block for block in blocks if isinstance(block, dict)]
    return len(found) == len(blocks) and any(
        text_at(block, "type") in _ITEMS or (block.get("type") == "reasoning" and "summary" in block)
        for block in found
    )


def _as_block(block: Any) -> Any:
    """Return the call of Pi or of Goose as a block of Anthropic."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "toolCall":
        call: Mapping[str, Any] = block
    elif kind == "toolRequest":
        call = object_at(object_at(block, "toolCall"), "value")
    else:
        return block
    return {
        "type": "tool_use",
        "id": block.get("id"),
        "name": call.get("name"),
        "input": call.get("arguments"),
    }


def _reason(value: JsonObject) -> str | None:
    return next((found for name in _REASONS if (found := text_at(value, name))), None)


def _answer(messages: Sequence[Message], value: JsonObject) -> Answer:
    parts: list[Part] = [part for message in messages for part in message.parts]
    return Answer(
        parts=tuple(parts),
        finish_reason=_reason(value),
        model=text_at(value, "model"),
        id=text_at(value, "id"),
    )
