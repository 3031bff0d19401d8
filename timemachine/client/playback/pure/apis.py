"""The APIs that playback answers: their addresses, and how each reads a request and writes answers and errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.answer_bodies import write_anthropic, write_chat, write_responses
from timemachine.llm.pure.requests.answer_events import anthropic_stream, chat_stream, responses_stream
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.json_values import object_at
from timemachine.llm.pure.requests.neutral import (
    ANTHROPIC,
    OPENAI,
    RESPONSES,
    Part,
    Request,
    Thinking,
    Written,
)
from timemachine.llm.pure.requests.recorded_forms import RECORDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One API. `read` reads the body of a request, `write` writes a response, `stream` writes it as server-sent events.
    `wrote` is whether a recorded output is a whole response of this API. `joins`: neighbouring messages with the same role are one there.
    """

    owner: str
    path: str
    read: Callable[[object], Request]
    write: Callable[[Answer], Written]
    stream: Callable[[JsonObject, JsonObject], bytes]
    wrote: Callable[[JsonObject], bool]
    error: Callable[[int, str, JsonObject], JsonObject]
    joins: bool = False

    def body_of(self, answer: Answer, output: Any) -> JsonObject:
        """Return the response with a recorded answer: the recorded response itself if it is one of this API."""
        parts = tuple(self._own(part) for part in answer.parts)
        body = self.write(replace(answer, parts=parts)).body
        if not isinstance(output, dict) or not self.wrote(output):
            return body
        return {**body, **{name: value for name, value in output.items() if value is not None}}

    def _own(self, part: Part) -> Part:
        """Return thinking of which only the text was recorded as that of this API, which alone can show it."""
        if not isinstance(part, Thinking):
            return part
        if part.provider == RECORDING:
            part = replace(part, provider=self.owner)
        unsigned = self.owner == part.provider == ANTHROPIC and part.data is None
        return replace(part, signature=part.signature or "") if unsigned else part


def _stream_chat(body: JsonObject, asked: JsonObject) -> bytes:
    return chat_stream(body, with_usage=object_at(asked, "stream_options").get("include_usage") is True)


def _is_chat(output: JsonObject) -> bool:
    choices = output.get("choices")
    return isinstance(choices, list) and all(
        isinstance(each, dict) and each.get("finish_reason") and isinstance(each.get("message"), dict)
        for each in choices
    )


def _is_response(output: JsonObject) -> bool:
    return output.get("object") == "response" and isinstance(output.get("output"), list)


def _is_message(output: JsonObject) -> bool:
    return output.get("type") == "message" and isinstance(output.get("content"), list)


def _openai_error(status: int, message: str, facts: JsonObject) -> JsonObject:
    kind = "server_error" if status >= _SERVER_ERROR else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, **facts}}


def _anthropic_error(status: int, message: str, facts: JsonObject) -> JsonObject:
    kind = "api_error" if status >= _SERVER_ERROR else _ANTHROPIC_KINDS.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message, **facts}, "request_id": None}


_SERVER_ERROR: Final = 500
_ANTHROPIC_KINDS: Final[Mapping[int, str]] = {404: "not_found_error", 413: "request_too_large"}
CHAT: Final = Api(
    owner=OPENAI,
    path="/chat/completions",
    read=openai_chat.read,
    write=write_chat,
    stream=_stream_chat,
    wrote=_is_chat,
    error=_openai_error,
)
RESPONSES_API: Final = Api(
    owner=RESPONSES,
    path="/responses",
    read=openai_responses.read,
    write=write_responses,
    stream=lambda body, _: responses_stream(body),
    wrote=_is_response,
    error=_openai_error,
)
MESSAGES: Final = Api(
    owner=ANTHROPIC,
    path="/messages",
    read=anthropic_messages.read,
    write=write_anthropic,
    stream=lambda body, _: anthropic_stream(body),
    wrote=_is_message,
    error=_anthropic_error,
    joins=True,
)
APIS: Final[Mapping[str, Api]] = {api.path: api for api in (CHAT, RESPONSES_API, MESSAGES)}


def is_whole(output: Any) -> bool:
    """Return whether a recorded output is a whole response of one of the APIs."""
    return isinstance(output, dict) and any(api.wrote(output) for api in APIS.values())


def api_of_request(value: Any, model: str | None) -> Api | None:
    """Return the API whose whole request was recorded as an input; None if only a part of a request was recorded.

    `model` is the one that is recorded to have answered.
    """
    if not isinstance(value, dict) or not isinstance(value.get("model"), str):
        return None
    if isinstance(value.get("messages"), list):
        return MESSAGES if _is_of_anthropic(value, model) else CHAT
    return RESPONSES_API if value.get("input") is not None else None


def _is_of_anthropic(body: JsonObject, model: str | None) -> bool:
    """Return whether a body is one for `/v1/messages`: it has a system prompt, or the limit that Anthropic needs, a model of
    Anthropic, and no message that Anthropic does not know. Other servers have these models too.
    """
    if "system" in body:
        return True
    roles = {each.get("role") for each in body["messages"] if isinstance(each, dict)}
    named = "claude" in f"{model} {body['model']}".lower()
    return named and "max_tokens" in body and roles <= {"user", "assistant"}
