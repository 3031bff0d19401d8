"""Calls a model through `/chat/completions`: OpenAI, and every server with the same protocol."""

from collections.abc import Set as AbstractSet
from typing import Any

import httpx2

from timemachine.llm.attempts import Answer, Exchange
from timemachine.llm.failure import not_understood
from timemachine.llm.parameters import STREAM_OPTIONS, Parameters, parameters_for, streaming
from timemachine.llm.pure.answer_stream import OpenAIStream, written_text
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.pure.usage import openai_usage, part_of, text_of
from timemachine.llm.transport import http_client, timeout


def send(request: ModelRequest, left_out: AbstractSet[str], listening: Listening) -> Completion:
    """Make one attempt, streamed unless the server refuses that.

    Raises:
        ModelFailed: The provider refused or failed.
    """
    import openai

    parameters = parameters_for(request, left_out)

    def post() -> Any:
        return client(openai, request).post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body={**_prompt(request), **parameters.wire, **_streaming(left_out)},
            stream=True,  # the client returns the response before reading it
        )

    answer = Exchange(openai, request, listening, OpenAIStream()).answer(post)
    return _completion(request, answer, parameters)


def _prompt(request: ModelRequest) -> dict[str, Any]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"model": request.model.model, "messages": messages}


def _streaming(left_out: AbstractSet[str]) -> dict[str, Any]:
    asked: dict[str, Any] = dict(streaming(left_out))
    if asked and STREAM_OPTIONS not in left_out:
        asked[STREAM_OPTIONS] = {"include_usage": True}
    return asked


def client(openai: Any, request: ModelRequest) -> Any:
    """Return the vendor's client for one request, without its own retries."""
    connection = request.connection
    key = connection.api_key or "none"  # the SDK requires one; a server without keys ignores it
    headers: dict[str, Any] = {"Authorization": f"Bearer {key}"}
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
    text, refusal = _text(part_of(choice.get("message")))
    return Completion(
        text=text,
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


def _text(message: Any) -> tuple[str, bool]:
    """Return all that the model wrote, as a stream shows it: a refusal can follow the beginning of an answer."""
    content, refusal = written_text(message.get("content")), text_of(message.get("refusal"))
    return content + (refusal or ""), refusal is not None
