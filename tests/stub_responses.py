"""The answers of the stub model server in OpenAI's Responses API: complete or as events. A response repeats its request, as OpenAI's does."""

import json
import time
from collections.abc import Iterator
from typing import Any, Final

from tests.stub_answers import Call, Script, answer_text, openai_answer

_REPEATED: Final = (
    "instructions", "temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "reasoning", "text",
    "metadata", "previous_response_id",
)  # fmt: skip


def response(call: Call, script: Script) -> dict[str, Any]:
    """Return a response."""
    chat = openai_answer(call, script)
    text, usage = answer_text(call, script), chat["usage"]
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": f"msg_stub_{call.id}", "role": "assistant", "content": [part]}
    calls = [
        {"type": "function_call", "id": f"fc_{each['id']}", "call_id": each["id"], **each["function"]}
        for each in chat["choices"][0]["message"].get("tool_calls", ())
    ]
    return {
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        **{name: call.body[name] for name in _REPEATED if call.body.get(name) is not None},
        "id": f"resp_stub_{call.id}",
        "object": "response",
        "created_at": int(time.time()),
        "model": call.model,
        "status": "completed",
        "output": [{**each, "status": "completed"} for each in [*([message] if text else []), *calls]],
        "usage": usage if "input_tokens" in usage else _usage(usage),
    }


def response_events(call: Call, script: Script) -> Iterator[bytes]:
    """Return the events of a response: each item whole, and the text in words."""
    whole = response(call, script)
    number = iter(range(1_000_000))
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield _event("response.created", next(number), {"response": begun})
    for place, item in enumerate(whole["output"]):
        at = {"output_index": place, "item_id": item["id"]}
        empty = {**item, "status": "in_progress"} | ({"content": []} if "content" in item else {})
        yield _event("response.output_item.added", next(number), {**at, "item": empty})
        for place_of_part, part in enumerate(item.get("content", ())):
            begun_part = {"content_index": place_of_part, "part": {**part, "text": ""}}
            yield _event("response.content_part.added", next(number), {**at, **begun_part})
        for word in item["content"][0]["text"].split(" ") if "content" in item else ():
            delta = {"content_index": 0, "delta": word, "logprobs": []}
            yield _event("response.output_text.delta", next(number), {**at, **delta})
        yield _event("response.output_item.done", next(number), {**at, "item": item})
    yield _event("response.completed", next(number), {"response": whole})


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    read, written = usage["prompt_tokens"], usage["completion_tokens"]
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, **usage.get("prompt_tokens_details", {})},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0, **usage.get("completion_tokens_details", {})},
        "total_tokens": read + written,
    }


def _event(kind: str, number: int, fields: dict[str, Any]) -> bytes:
    data = json.dumps({"type": kind, "sequence_number": number, **fields})
    return f"event: {kind}\ndata: {data}\n\n".encode()
