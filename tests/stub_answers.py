"""The answers of the stub model server: complete or as events, in either protocol, correct or as faulty as a script requires."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal[
    "ok",
    "429_then_ok",
    "500",
    "error",
    "slow",
    "silent",
    "slow_words",
    "refusal",
    "truncated",
    "filtered",
    "empty",
    "redirect",
    "drip",
    "huge",
    "endless",
    "garbage",
    "html",
    "closed",
    "unfinished",
    "broken_event",
    "error_event",
    "in_one_piece",
    "no_usage_in_stream",
    "no_stream",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """An answer and its delivery.

    `times` is how often the mode applies before normal answers follow (None: always; `429_then_ok` fails once).
    `seconds` is how long `slow` waits before its first byte, `silent` before its first event, and how long `slow_words` and `drip` pause.
    In every mode, nothing (in a stream: nothing but the first word) is sent before `held` is set, for a minute at most; `paused` is set when the
    first word is sent and others follow.
    For embeddings, texts longer than `longest_text` and requests with more than `most_texts` texts are refused with 413.
    `tools` are the calls after the text, each a name and arguments.
    `status`, `body` and `retry_after` belong to `error` and 429; `usage` replaces the counted tokens.
    """

    question: str = ""
    answer: str | None = None
    mode: Mode = "ok"
    times: int | None = None
    seconds: float = 0.0
    status: int = 400
    body: str = ""
    retry_after: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    longest_text: int | None = None
    held: threading.Event | None = None
    paused: threading.Event | None = None
    most_texts: int | None = None
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()


@dataclass(slots=True, kw_only=True)
class Call:
    """One request: `id` counts from 1; `answered_at` is when the last byte of its answer was sent, None before that and if the caller was seen to be disconnected."""

    id: int
    path: str
    model: str
    prompt: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: str
    mode: str = "ok"
    status: int | None = None
    answered_at: str | None = None


REFUSAL = "I can't help with that."
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded", "code": "overloaded"}
_OPENAI_ENDS = {"truncated": "length", "filtered": "content_filter"}
_ANTHROPIC_ENDS = {"truncated": "max_tokens", "refusal": "refusal", "filtered": "refusal"}


def answer_text(call: Call, script: Script) -> str:
    """Return the text of the answer; an unscripted one depends only on the model and the prompt."""
    if script.mode == "empty":
        return ""
    if script.answer is not None:
        return script.answer
    if script.mode == "refusal":
        return REFUSAL
    return f"Stub answer {hashlib.sha256(f'{call.model} {call.prompt}'.encode()).hexdigest()[:12]}."


def openai_answer(call: Call, script: Script) -> dict[str, Any]:
    """Return a chat completion."""
    text, refused = answer_text(call, script), script.mode == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else text,
        "refusal": text if refused else None,
        **({"tool_calls": _openai_calls(call, script)} if script.tools else {}),
    }
    ended = _OPENAI_ENDS.get(script.mode, "tool_calls" if script.tools else "stop")
    return {
        **_openai_head(call, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
        "usage": script.usage or _openai_usage(call, text),
    }


def anthropic_answer(call: Call, script: Script) -> dict[str, Any]:
    """Return a message."""
    text = answer_text(call, script)
    return {
        **_anthropic_head(call),
        "content": [{"type": "text", "text": text}, *_anthropic_calls(call, script)],
        "stop_reason": _ANTHROPIC_ENDS.get(script.mode, "tool_use" if script.tools else "end_turn"),
        "usage": script.usage or {"input_tokens": _count(call.prompt), "output_tokens": _count(text)},
    }


def openai_events(call: Call, script: Script) -> Iterator[bytes]:
    """Return the chunks of a chat completion, with the usage in a separate chunk if requested."""
    text = answer_text(call, script)
    field = "refusal" if script.mode == "refusal" else "content"
    yield _event(_openai_chunk(call, {"role": "assistant", "content": ""}))
    for piece in _pieces(text, script):
        yield _event(_openai_chunk(call, {field: piece}))
        if (broken := _broken(script, {"error": OVERLOADED})) is not None:
            yield broken
            return
    for place, made in enumerate(_openai_calls(call, script)):
        arguments = made["function"]["arguments"]
        begun = {"index": place, **made, "function": {**made["function"], "arguments": arguments[:3]}}
        more = {"index": place, "function": {"arguments": arguments[3:]}}
        yield from (_event(_openai_chunk(call, {"tool_calls": [chunk]})) for chunk in (begun, more))
    ended = _OPENAI_ENDS.get(script.mode, "tool_calls" if script.tools else "stop")
    yield _event(_openai_chunk(call, {}, ended))
    if call.body.get("stream_options", {}).get("include_usage"):
        head = _openai_head(call, "chat.completion.chunk")
        yield _event({**head, "choices": [], "usage": script.usage or _openai_usage(call, text)})
    yield b"data: [DONE]\n\n"


def anthropic_events(call: Call, script: Script) -> Iterator[bytes]:
    """Return the events of a message: input tokens are counted at its start, output tokens at its end."""
    text = answer_text(call, script)
    usage = script.usage or {"input_tokens": _count(call.prompt), "output_tokens": _count(text)}
    begun: dict[str, Any] = {"usage": {**usage, "output_tokens": 1}, "content": [], "stop_reason": None}
    yield _named({"type": "message_start", "message": {**_anthropic_head(call), **begun}})
    yield _named({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    yield _named({"type": "ping"})
    for piece in _pieces(text, script):
        delta = {"type": "text_delta", "text": piece}
        yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
        if (
            broken := _broken(script, {"type": "error", "error": OVERLOADED, "request_id": "req_stub"})
        ) is not None:
            yield broken
            return
    yield _named({"type": "content_block_stop", "index": 0})
    for place, block in enumerate(_anthropic_calls(call, script), start=1):
        written = json.dumps(block["input"])
        yield _named({"type": "content_block_start", "index": place, "content_block": {**block, "input": {}}})
        for piece in (written[:3], written[3:]):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield _named({"type": "content_block_delta", "index": place, "delta": delta})
        yield _named({"type": "content_block_stop", "index": place})
    reason = _ANTHROPIC_ENDS.get(script.mode, "tool_use" if script.tools else "end_turn")
    ended = {"stop_reason": reason, "stop_sequence": None}
    counted = {"output_tokens": usage.get("output_tokens")}
    yield _named({"type": "message_delta", "delta": ended, "usage": counted})
    yield _named({"type": "message_stop"})


def _openai_calls(call: Call, script: Script) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_stub_{call.id}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(script.tools)
    ]


def _anthropic_calls(call: Call, script: Script) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": f"toolu_stub_{call.id}_{place}", "name": name, "input": arguments}
        for place, (name, arguments) in enumerate(script.tools)
    ]


def _pieces(text: str, script: Script) -> Iterator[str]:
    if script.mode == "silent":
        time.sleep(script.seconds)
    for number, piece in enumerate(re.findall(r"\s*\S+\s*$|\s*\S+", text)):
        if number and script.paused:
            script.paused.set()
        if number and script.mode == "slow_words":
            time.sleep(script.seconds)
        if number and script.held:
            script.held.wait(60)
        yield piece
    while script.mode == "endless":
        yield "more " * 10_000


def _broken(script: Script, error: dict[str, Any]) -> bytes | None:
    """Return what is sent instead of the rest after the first word; nothing if the connection is closed."""
    if script.mode in {"closed", "unfinished"}:
        return b""
    if script.mode == "broken_event":
        return b'data: {"choices": [{"delta"\n\n'
    return b"event: error\n" + _event(error) if script.mode == "error_event" else None


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _named(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\n".encode() + _event(value)


def _openai_chunk(call: Call, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_openai_head(call, "chat.completion.chunk"), "choices": [choice]}


def _openai_head(call: Call, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-stub-{call.id}",
        "object": kind,
        "created": int(time.time()),
        "model": call.model,
    }


def _anthropic_head(call: Call) -> dict[str, Any]:
    head = {"id": f"msg_stub_{call.id}", "type": "message", "role": "assistant", "model": call.model}
    return {**head, "stop_sequence": None}


def _openai_usage(call: Call, text: str) -> dict[str, int]:
    read, written = _count(call.prompt), _count(text)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _count(text: str) -> int:
    return len(text.split())
