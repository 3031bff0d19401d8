"""Calls Claude through `/v1/messages`."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.attempts import Answer, Exchange, parts_of
from timemachine.llm.failure import not_understood
from timemachine.llm.parameters import Parameters, parameters_for, streaming
from timemachine.llm.pure.answer_stream import AnthropicStream, written_text
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.pure.requests.answers import read_anthropic
from timemachine.llm.pure.requests.anthropic_messages import write
from timemachine.llm.pure.requests.neutral import Written
from timemachine.llm.pure.usage import anthropic_usage, part_of, text_of
from timemachine.llm.transport import bearer

VERSION: Final = "2026-10-21"
"""The version of the API, sent with each request."""
DEFAULT_MAX_TOKENS = 8192
"""The limit that is sent if the request has none, because this API requires one."""


def send(request: ModelRequest, left_out: AbstractSet[str], listening: Listening) -> Completion:
    """Make one attempt, streamed unless the server refuses that. Raises `ModelFailed`."""
    limited = replace(request, max_tokens=request.max_tokens or DEFAULT_MAX_TOKENS)
    parameters = parameters_for(limited, left_out)
    prompt = _prompt(request)
    body = {**prompt.body, "model": request.model.model, **parameters.wire, **streaming(left_out)}
    headers = {"anthropic-version": VERSION, **bearer(request.connection)}
    answer = Exchange(request, listening, AnthropicStream()).answer("/v1/messages", headers, body)
    return replace(_completion(request, answer, parameters), dropped=prompt.dropped)


def _prompt(request: ModelRequest) -> Written:
    """Return the messages, or the recorded request with all that Anthropic takes of it."""
    if request.recorded is not None:
        return write(request.recorded)
    system = [message.content for message in request.messages if message.role == "system"]
    turns = [message for message in request.messages if message.role != "system"]
    body: JsonObject = {"system": "\n\n".join(system)} if system else {}
    body["messages"] = [{"role": message.role, "content": message.content} for message in turns]
    return Written(body=body)


def _completion(request: ModelRequest, answer: Answer, parameters: Parameters) -> Completion:
    found = part_of(answer.body)
    blocks = found.get("content")
    if not isinstance(blocks, list):
        raise not_understood(request, "it has no content.")
    text = written_text(blocks)
    return Completion(
        text=text or text_of(part_of(found.get("stop_details")).get("explanation")) or "",
        parts=parts_of(lambda: read_anthropic(found)),
        usage=anthropic_usage(found.get("usage")),
        model=text_of(found.get("model")),
        finish_reason=text_of(found.get("stop_reason")),
        response_id=text_of(found.get("id")),
        duration_ms=answer.duration_ms,
        first_text_ms=answer.first_text_ms,
        parameters=parameters.asked,
        not_accepted=parameters.left_out,
        broke_off_after_end=answer.broke_off_after_end,
    )
