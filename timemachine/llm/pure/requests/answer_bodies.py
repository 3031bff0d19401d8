"""Answers written as the response of each API, with usage: for playing a recorded answer back."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_messages, openai_chat
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import OPENAI, RESPONSES, Message, Request, Written
from timemachine.llm.pure.requests.notes import Notes
from timemachine.llm.pure.requests.responses_items import write_items
from timemachine.llm.pure.usage import TokenUsage

_OF_CHAT: Final = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
_TO_CHAT: Final[Mapping[str, str]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_OF_ANTHROPIC: Final = frozenset(
    {"end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"}
    | {"model_context_window_exceeded"}
)
_TO_ANTHROPIC: Final[Mapping[str, str]] = {"length": "max_tokens", "content_filter": "refusal"}
_INCOMPLETE: Final[Mapping[str, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_NO_USAGE: Final = TokenUsage()


def write_chat(answer: Answer, *, provider: str = OPENAI, created: int = 0) -> Written:
    """Write a chat completion: https://platform.openai.com/docs/api-reference/chat/object

    `created` is in seconds since 1970.
    """
    written = openai_chat.write(_as_request(answer), provider=provider)
    reason = _chat_reason(answer)
    message = {"refusal": None, **written.body["messages"][0]}
    message["content"] = message["content"] or None
    body = {
        "id": answer.id or "chatcmpl-recorded",
        "object": "chat.completion",
        "created": created,
        "model": answer.model or "",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": _chat_usage(answer.usage or _NO_USAGE),
    }
    return Written(body=body, dropped=written.dropped)


def write_responses(answer: Answer, *, created: int = 0) -> Written:
    """Write a response: https://platform.openai.com/docs/api-reference/responses/object"""
    notes = Notes(RESPONSES)
    items = write_items(_as_request(answer).messages if answer.parts else (), notes)
    cut = _INCOMPLETE.get(_chat_reason(answer))
    body = {
        "id": answer.id or "resp_recorded",
        "object": "response",
        "created_at": created,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": answer.model or "",
        "output": [_output(item, number) for number, item in enumerate(items)],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _responses_usage(answer.usage or _NO_USAGE),
    }
    return Written(body=body, dropped=notes.sentences)


def write_anthropic(answer: Answer) -> Written:
    """Write a message: https://platform.claude.com/docs/en/api/messages"""
    written = anthropic_messages.write(_as_request(answer))
    content = written.body["messages"][0]["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    body = {
        "id": answer.id or "msg_recorded",
        "type": "message",
        "role": "assistant",
        "model": answer.model or "",
        "content": blocks,
        "stop_reason": _anthropic_reason(answer),
        "stop_sequence": None,
        "usage": _anthropic_usage(answer.usage or _NO_USAGE),
    }
    return Written(body=body, dropped=written.dropped)


def _as_request(answer: Answer) -> Request:
    return Request(messages=(Message(role="assistant", parts=answer.parts),))


def _chat_reason(answer: Answer) -> str:
    reason = answer.finish_reason or ""
    if reason in _OF_CHAT:
        return reason
    return _TO_CHAT.get(reason, "tool_calls" if answer.calls else "stop")


def _anthropic_reason(answer: Answer) -> str:
    reason = answer.finish_reason or ""
    if reason in _OF_ANTHROPIC:
        return reason
    if answer.refused:
        return "refusal"
    return _TO_ANTHROPIC.get(reason, "tool_use" if answer.calls else "end_turn")


def _output(item: JsonObject, number: int) -> JsonObject:
    """Return an item with the fields that items of an answer have, and those of a request need not have."""
    known = {"id": f"item_{number}", "status": "completed", **item}
    content = item.get("content")
    if "role" not in item or item.get("type", "message") != "message":
        return known
    parts = content if isinstance(content, list) else [{"type": "output_text", "text": content or ""}]
    return {**known, "type": "message", "content": [_annotated(part) for part in parts]}


def _annotated(part: Any) -> Any:
    is_text = isinstance(part, dict) and part.get("type") == "output_text"
    return {"annotations": [], **part} if is_text else part


def _chat_usage(usage: TokenUsage) -> JsonObject:
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written if usage.total_tokens is None else usage.total_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def _responses_usage(usage: TokenUsage) -> JsonObject:
    chat = _chat_usage(usage)
    return {
        "input_tokens": chat["prompt_tokens"],
        "input_tokens_details": chat["prompt_tokens_details"],
        "output_tokens": chat["completion_tokens"],
        "output_tokens_details": chat["completion_tokens_details"],
        "total_tokens": chat["total_tokens"],
    }


def _anthropic_usage(usage: TokenUsage) -> JsonObject:
    """Write the usage. Anthropic counts what it read from and wrote to the cache apart from its input."""
    cached, stored = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    return {
        "input_tokens": max((usage.input_tokens or 0) - cached - stored, 0),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": stored,
        "output_tokens": usage.output_tokens or 0,
    }
