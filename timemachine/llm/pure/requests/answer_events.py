"""Whole answers as the events in which each API streams them: for playing a recorded answer back.

`body` is a response as `answer_bodies` writes it. The same body gives the same events.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import as_text, object_at, objects_at, rest, text_at

PIECE: Final = 40
"""How many characters of a text one event has."""
_HEAD: Final = ("id", "created", "model", "system_fingerprint", "service_tier")
_TEXTS: Final = ("reasoning_content", "content", "refusal")
_CALLS: Final = {"function": "arguments", "custom": "input"}
_DONE: Final = b"data: [DONE]\n\n"


def chat_stream(body: JsonObject, *, with_usage: bool = False) -> bytes:
    """Return a chat completion as server-sent events. The usage is in them if the request asked for it.

    https://platform.openai.com/docs/api-reference/chat-streaming
    """
    chunks = _chat_chunks(body, with_usage=with_usage)
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + _DONE


def responses_stream(body: JsonObject) -> bytes:
    """Return a response as server-sent events: https://platform.openai.com/docs/api-reference/responses-streaming"""
    events = enumerate(_response_events(body))
    return b"".join(_event({**event, "sequence_number": number}) for number, event in events)


def anthropic_stream(body: JsonObject) -> bytes:
    """Return a message as server-sent events: https://platform.claude.com/docs/en/build-with-claude/streaming"""
    return b"".join(map(_event, _message_events(body)))


def _event(event: JsonObject) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _chat_chunks(body: JsonObject, *, with_usage: bool) -> Iterator[JsonObject]:
    head = {name: body[name] for name in _HEAD if name in body} | {"object": "chat.completion.chunk"}
    usage = {"usage": None} if with_usage else {}
    for number, choice in enumerate(objects_at(body, "choices")):
        place = {"index": choice.get("index", number), "logprobs": None}
        for delta in _deltas(object_at(choice, "message")):
            yield {**head, "choices": [{**place, "delta": delta, "finish_reason": None}], **usage}
        last = {**place, "delta": {}, "finish_reason": choice.get("finish_reason")}
        yield {**head, "choices": [last], **usage}
    if with_usage:
        yield {**head, "choices": [], "usage": body.get("usage")}


def _deltas(message: JsonObject) -> Iterator[JsonObject]:
    texts = {name: text for name in _TEXTS if (text := text_at(message, name))}
    yield {"role": "assistant", "content": None, **rest(message, "role", "tool_calls", *texts)}
    for name, text in texts.items():
        yield from ({name: piece} for piece in _pieces(text))
    for number, call in enumerate(objects_at(message, "tool_calls")):
        field = "custom" if call.get("type") == "custom" else "function"
        value = _CALLS[field]
        function = object_at(call, field)
        begun = {**call, "index": number, field: {**function, value: ""}}
        yield {"tool_calls": [begun]}
        for piece in _pieces(text_at(function, value) or ""):
            yield {"tool_calls": [{"index": number, field: {value: piece}}]}


def _response_events(body: JsonObject) -> Iterator[JsonObject]:
    begun = {**body, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for number, item in enumerate(objects_at(body, "output")):
        yield from _item_events(item, {"output_index": number})
    kind = text_at(body, "status")
    end = kind if kind in ("incomplete", "failed") else "completed"
    yield {"type": f"response.{end}", "response": body}


def _item_events(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    inside = {**place, "item_id": item.get("id")}
    kind = text_at(item, "type")
    if kind == "message":
        begun, events = {**item, "content": []}, _content_events(item, inside)
    elif kind == "reasoning":
        begun, events = {**item, "summary": []}, _summary_events(item, inside)
    elif kind == "function_call":
        begun = {**item, "arguments": ""}
        events = _text_events("response.function_call_arguments", item, "arguments", inside)
    elif kind == "custom_tool_call":
        begun = {**item, "input": ""}
        events = _text_events("response.custom_tool_call_input", item, "input", inside)
    else:
        begun, events = item, iter(())
    started = {**begun, "status": "in_progress"} if "status" in item else begun
    yield {"type": "response.output_item.added", **place, "item": started}
    yield from events
    yield {"type": "response.output_item.done", **place, "item": item}


def _content_events(item: JsonObject, inside: JsonObject) -> Iterator[JsonObject]:
    for number, part in enumerate(objects_at(item, "content")):
        place = {**inside, "content_index": number}
        field = "refusal" if part.get("type") == "refusal" else "text"
        begun = {**part, field: ""} if field in part else part
        yield {"type": "response.content_part.added", **place, "part": begun}
        if part.get("type") == "output_text":
            yield from _text_events("response.output_text", part, "text", {**place, "logprobs": []})
        elif part.get("type") == "refusal":
            yield from _text_events("response.refusal", part, "refusal", place)
        yield {"type": "response.content_part.done", **place, "part": part}


def _summary_events(item: JsonObject, inside: JsonObject) -> Iterator[JsonObject]:
    for number, part in enumerate(objects_at(item, "summary")):
        place = {**inside, "summary_index": number}
        added = "response.reasoning_summary_part"
        yield {"type": f"{added}.added", **place, "part": {**part, "text": ""}}
        yield from _text_events("response.reasoning_summary_text", part, "text", place)
        yield {"type": f"{added}.done", **place, "part": part}


def _text_events(name: str, found: JsonObject, field: str, place: JsonObject) -> Iterator[JsonObject]:
    text = text_at(found, field) or ""
    for piece in _pieces(text):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, field: text, **_name(found)}


def _name(found: JsonObject) -> JsonObject:
    """The last event of a call's arguments has the name of the tool."""
    return {"name": found["name"]} if found.get("type") == "function_call" else {}


def _message_events(body: JsonObject) -> Iterator[JsonObject]:
    usage = object_at(body, "usage")
    begun = {**body, "content": [], "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**begun, "usage": {**usage, "output_tokens": 0}}}
    for number, block in enumerate(objects_at(body, "content")):
        place = {"index": number}
        start, deltas = _block(block)
        yield {"type": "content_block_start", **place, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", **place, "delta": delta}
        yield {"type": "content_block_stop", **place}
    end = {"stop_reason": body.get("stop_reason"), "stop_sequence": body.get("stop_sequence")}
    yield {"type": "message_delta", "delta": end, "usage": usage}
    yield {"type": "message_stop"}


def _block(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """Return the block that an answer starts with, and what is added to it."""
    kind = block.get("type")
    if kind == "text":
        cited = [{"type": "citations_delta", "citation": each} for each in block.get("citations") or ()]
        started = {**block, "text": ""} | ({"citations": []} if cited else {})
        return started, [*_of_text("text_delta", "text", text_at(block, "text")), *cited]
    if kind == "thinking":
        signature = text_at(block, "signature") or ""
        deltas = _of_text("thinking_delta", "thinking", text_at(block, "thinking"))
        deltas += [{"type": "signature_delta", "signature": signature}] if signature else []
        return {**block, "thinking": "", "signature": ""}, deltas
    if "input" in block:
        return {**block, "input": {}}, _of_text("input_json_delta", "partial_json", as_text(block["input"]))
    return block, []


def _of_text(kind: str, field: str, text: Any) -> list[JsonObject]:
    return [{"type": kind, field: piece} for piece in _pieces(text or "")]
