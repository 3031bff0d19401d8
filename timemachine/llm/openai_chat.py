"""Calls a model through `/chat/completions`: OpenAI, and every server with the same protocol."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

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
from timemachine.llm.transport import http_client, timeout


def send(request: ModelRequest, left_out: AbstractSet[str], listening: Listening) -> Completion:
    """Make one attempt, streamed unless the server refuses that. Raises `ModelFailed`."""
    import openai

    parameters = parameters_for(request, left_out)
    prompt = _prompt(request)
    body: JsonObject = {**prompt.body, "model": request.model.model, **parameters.wire}
    body |= streaming(left_out)
    if STREAM in body and STREAM_OPTIONS not in left_out:
        body[STREAM_OPTIONS] = {"include_usage": True}
    exchange = Exchange(openai, request, listening, OpenAIStream())
    answer = exchange.answer(client(openai, request), "/chat/completions", body)
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


def client(openai: Any, request: ModelRequest) -> Any:
    """Return the vendor's client for one request, without its own retries."""
    connection = request.connection
    key = connection.api_key or "none"  # the SDK requires one; a server without keys ignores it
    headers: JsonObject = {"Authorization": f"Bearer {key}"}
    # the SDK would send OPENAI_ORG_ID and OPENAI_PROJECT_ID to any server, and with another account's key
    if request.model.provider != "openai" or connection.own_key:
        headers |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
    return openai.OpenAI(
        base_url=connection.base_url,
        api_key=key,
        max_retries=0,
        timeout=timeout(request.timeout_seconds),
        default_headers=headers,
        http_client=http_client(pinned=connection.pinned),
    )


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
