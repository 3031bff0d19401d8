"""Turn chat messages in OpenAI's form, which many tools use, into actions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, tool_result
from timemachine.recording.importing.pure.model_turns import model_turn, written
from timemachine.recording.importing.pure.reader import Reader
from timemachine.recording.importing.pure.values import (
    list_at,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

_SPEAKERS = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
}
_RETURNS = {"tool", "function"}
_ANSWER = ("content", "tool_calls", "function_call", "refusal", "reasoning_content")


def conversation_actions(
    messages: list[Any], base: ActionDraft, ids: Ids, reader: Reader
) -> list[ActionDraft]:
    """Return the actions of all messages, which are counted. Each answer of the assistant is a model call."""
    return [
        action
        for place, message in enumerate(messages, start=1)
        if reader.takes(message, "a message")
        for action in turn_actions(message, base, ids, f"message-{place}")
    ]


def turn_actions(message: JsonObject, base: ActionDraft, ids: Ids, where: str) -> list[ActionDraft]:
    """Return the same as `chat_actions`, with an answer of the assistant as a model call with its parts below."""
    parts = list(_actions(message, base))
    if _SPEAKERS.get(text_at(message, "role") or "") != "agent":
        return _placed(parts, message, ids, where)
    call = replace(
        base,
        kind="llm_call",
        id=ids.claim(where),
        layer="agent",
        role="agent",
        agent=parts[0].agent,
        output=written(**{name: message.get(name) for name in _ANSWER}),
        source=message,
    )
    return model_turn(call, parts, ids)


def chat_actions(message: JsonObject, base: ActionDraft, ids: Ids, where: str) -> list[ActionDraft]:
    """Return the actions of one message. The first of them has the message as its `source`.

    Spoken text becomes a `message`, reasoning another `message` before it, each tool call a `tool_call`, and a tool's
    answer a `tool_result`. A message with an unknown role becomes an `event`. `base` holds the fields that all of
    them share.
    """
    return _placed(_actions(message, base), message, ids, where)


def _placed(parts: Iterable[ActionDraft], message: JsonObject, ids: Ids, where: str) -> list[ActionDraft]:
    return [
        replace(
            action,
            id=ids.claim(where if place == 1 else f"{where}/{place}"),
            source=message if place == 1 else None,
        )
        for place, action in enumerate(parts, start=1)
    ]


def _actions(message: JsonObject, base: ActionDraft) -> Iterator[ActionDraft]:
    role = text_at(message, "role") or "unknown"
    if role in _RETURNS:
        yield _result(message, base)
        return
    speaker = _SPEAKERS.get(role)
    if speaker is None:
        yield replace(
            base, kind="event", layer="sys", role="system", name=role[:80], output=message.get("content")
        )
        return
    spoken = replace(
        base,
        kind="message",
        layer="sys" if speaker == "system" else "agent",
        role=speaker,
        agent=short_text_at(message, "name") or (base.agent if speaker == "agent" else None),
    )
    calls = [_call(each, spoken) for each in list_at(message, "tool_calls")]
    if isinstance(older := message.get("function_call"), dict):
        calls.append(_call(older, spoken))
    thought = text_at(message, "reasoning_content", "reasoning")
    if thought is not None:
        yield replace(spoken, name="thinking", tags=(*spoken.tags, "thinking"), output=thought)
    refusal = text_at(message, "refusal")
    if refusal is not None:
        yield replace(spoken, name="refusal", output=refusal)
    content = message.get("content")
    if content not in (None, "", []) or not (calls or thought or refusal):
        yield replace(spoken, output=content)
    yield from calls


def _call(call: Any, spoken: ActionDraft) -> ActionDraft:
    function = record_at(call, "function")
    given = function.get("arguments", call.get("arguments")) if isinstance(call, dict) else call
    return replace(
        spoken,
        kind="tool_call",
        layer="tool",
        tool=short_text_at(function, "name") or short_text_at(call, "function", "name"),
        call_id=short_text_at(call, "id"),
        input=parsed_json(given),
    )


def _result(message: JsonObject, base: ActionDraft) -> ActionDraft:
    content = message.get("content")
    failure = record_at(message, "error")
    return tool_result(
        base,
        tool=short_text_at(message, "name", "function"),
        call_id=short_text_at(message, "tool_call_id"),
        output=content,
        error_type=(short_text_at(failure, "type") or "tool_error") if failure else None,
        error_message=(text_at(failure, "message") or text_of_content(content)) if failure else None,
    )
