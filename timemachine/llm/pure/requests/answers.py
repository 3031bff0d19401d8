"""The answer of a model in the neutral form, read from the response of each API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_messages, openai_chat
from timemachine.llm.pure.requests.json_values import RequestError, body_of, object_at, objects_at, text_at
from timemachine.llm.pure.requests.neutral import OPENAI, Part, Refusal, Text, Thinking, ToolCall
from timemachine.llm.pure.requests.responses_items import read_items
from timemachine.llm.pure.usage import TokenUsage, anthropic_usage, count, openai_usage

_INCOMPLETE: Final[Mapping[str, str]] = {"max_output_tokens": "length"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model answered. `finish_reason`, `model` and `id` are as the provider sent them, None if it did not.

    The Responses API has no finish reason; it gets that of a chat completion with the same meaning.
    """

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    model: str | None = None
    id: str | None = None
    usage: TokenUsage | None = None

    @property
    def text(self) -> str:
        """The text of the answer, with that of a refusal, as a reader sees it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text | Refusal))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools that the model asks for."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def thinking(self) -> str:
        """What the model thought, as far as it can be read."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Thinking) and part.text)

    @property
    def refused(self) -> bool:
        """Whether the model refused in words."""
        return any(isinstance(part, Refusal) for part in self.parts)


def read_chat(body: object, *, provider: str = OPENAI) -> Answer:
    """Read a chat completion: its first choice.

    Raises:
        RequestError: It is not one, or has no choice.
    """
    found = body_of(body)
    choices = objects_at(found, "choices")
    if not choices:
        raise RequestError("The answer has no choices.")
    message = {**object_at(choices[0], "message"), "role": "assistant"}
    (read,) = openai_chat.read_messages([message], provider=provider)
    return Answer(
        parts=read.parts,
        finish_reason=text_at(choices[0], "finish_reason"),
        usage=_usage(found, openai_usage),
        **_named(found),
    )


def read_responses(body: object) -> Answer:
    """Read a response of the Responses API.

    Raises:
        RequestError: It is not one, or has no output.
    """
    found = body_of(body)
    if "output" not in found:
        raise RequestError("The answer has no output.")
    parts = tuple(part for message in read_items(objects_at(found, "output")) for part in message.parts)
    called = any(isinstance(part, ToolCall) for part in parts)
    return Answer(
        parts=parts,
        finish_reason=_reason(found, called=called),
        usage=_usage(found, _responses_usage),
        **_named(found),
    )


def _reason(found: JsonObject, *, called: bool) -> str | None:
    status = text_at(found, "status")
    if status == "completed":
        return "tool_calls" if called else "stop"
    why = text_at(object_at(found, "incomplete_details"), "reason")
    return status if why is None else _INCOMPLETE.get(why, why)


def read_anthropic(body: object) -> Answer:
    """Read a message of the Messages API.

    Raises:
        RequestError: It is not one, or has no content.
    """
    found = body_of(body)
    if not isinstance(found.get("content"), list):
        raise RequestError("The answer has no content.")
    (message,) = anthropic_messages.read_messages([{"role": "assistant", "content": found["content"]}])
    explanation = text_at(object_at(found, "stop_details"), "explanation")
    refused = text_at(found, "stop_reason") == "refusal" and explanation and not message.parts
    return Answer(
        parts=(Refusal(explanation or ""),) if refused else message.parts,
        finish_reason=text_at(found, "stop_reason"),
        usage=_usage(found, anthropic_usage),
        **_named(found),
    )


def _named(found: JsonObject) -> dict[str, Any]:
    return {"model": text_at(found, "model"), "id": text_at(found, "id")}


def _usage(found: JsonObject, read: Any) -> TokenUsage | None:
    usage: TokenUsage | None = read(found["usage"]) if isinstance(found.get("usage"), dict) else None
    return usage


def _responses_usage(usage: JsonObject) -> TokenUsage:
    """Read the usage of a response: https://platform.openai.com/docs/api-reference/responses/object"""
    read, written = object_at(usage, "input_tokens_details"), object_at(usage, "output_tokens_details")
    return TokenUsage(
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        total_tokens=count(usage, "total_tokens"),
        cached_tokens=count(read, "cached_tokens"),
        cache_write_tokens=count(read, "cache_write_tokens"),
        reasoning_tokens=count(written, "reasoning_tokens"),
    )
