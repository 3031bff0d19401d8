"""Calls a model through `/chat/completions`: OpenAI, and every server with the same protocol."""

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.attempts import Answer, Exchange, parts_of
from timemachine.llm.failure import not_understood
from timemachine.llm.parameters import STREAM, STREAM_OPTIONS, Parameters, parameters_for, streaming
from timemachine.llm.pure.answer_stream import OpenAIStream, written_text
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.pure.requests.answers import read_chat
from timemachine.llm.pure.requests.neutral import Written
from timemachine.llm.pure.requests.openai_chat import write
from timemachine.llm.pure.usage import openai_usage, part_of, text_of
from timemachine.llm.transport import bearer

_ACCOUNT: Final = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""The headers that choose an account, with the variables in which OpenAI's own programs find them."""


def send(request: ModelRequest, left_out: AbstractSet[str], listening: Listening) -> Completion:
    """Make one attempt, streamed unless the server refuses that. Raises `ModelFailed`."""
    parameters = parameters_for(request, left_out)
    prompt = _prompt(request)
    body: JsonObject = {**prompt.body, "model": request.model.model, **parameters.wire}
    body |= streaming(left_out)
    if STREAM in body and STREAM_OPTIONS not in left_out:
        body[STREAM_OPTIONS] = {"include_usage": True}
    exchange = Exchange(request, listening, OpenAIStream())
    answer = exchange.answer("/chat/completions", headers(request), body)
    return replace(_completion(request, answer, parameters), dropped=prompt.dropped)


def _prompt(request: ModelRequest) -> Written:
    """Return the messages, or the recorded request with all that this provider takes of it."""
    if request.recorded is not None:
        connection = request.connection
        return write(
            request.recorded,
            provider=request.model.provider,
            limit_parameter=connection.limit_parameter,
            seed_parameter=connection.seed_parameter,
        )
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return Written(body={"messages": messages})


def headers(request: ModelRequest) -> Mapping[str, str]:
    """Return the headers with the key and, for the operator's key to OpenAI, with the operator's account."""
    connection = request.connection
    found = bearer(connection)
    if request.model.provider == "openai" and not connection.own_key:
        found |= {name: value for name, variable in _ACCOUNT.items() if (value := os.environ.get(variable))}
    return found


def _completion(request: ModelRequest, answer: Answer, parameters: Parameters) -> Completion:
    found = part_of(answer.body)
    choices = found.get("choices")
    if not isinstance(choices, list) or not choices:
        raise not_understood(request, "it has no choices.")
    choice = part_of(choices[0])
    # all that the model wrote, as a stream shows it: a refusal can follow the beginning of an answer
    message = part_of(choice.get("message"))
    content, refusal = written_text(message.get("content")), text_of(message.get("refusal"))
    return Completion(
        text=content + (refusal or ""),
        parts=parts_of(lambda: read_chat(found, provider=request.model.provider)),
        usage=openai_usage(found.get("usage")),
        model=text_of(found.get("model")),
        finish_reason="refusal" if refusal else text_of(choice.get("finish_reason")),
        response_id=text_of(found.get("id")),
        duration_ms=answer.duration_ms,
        first_text_ms=answer.first_text_ms,
        parameters=parameters.asked,
        not_accepted=parameters.left_out,
        broke_off_after_end=answer.broke_off_after_end,
    )
