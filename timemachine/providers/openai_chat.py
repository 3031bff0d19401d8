"""Calling a model through `/chat/completions`: OpenAI, and every server that speaks its protocol."""

import time
from collections.abc import Set as AbstractSet
from typing import Any

import httpx2

from timemachine.providers.completion import Completion, ModelRequest
from timemachine.providers.failure import not_understood, parsed, provider_errors
from timemachine.providers.parameters import Parameters, parameters_for
from timemachine.providers.transport import http_client, timeout
from timemachine.providers.usage import openai_usage, part_of, text_of


def send(request: ModelRequest, left_out: AbstractSet[str]) -> Completion:
    """One attempt. Raises `ModelFailed`."""
    import openai

    parameters = parameters_for(request, left_out)
    started = time.perf_counter()
    with provider_errors(openai, request):
        answer = _client(openai, request).post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body={
                "model": request.model.model,
                "messages": [
                    {"role": message.role, "content": message.content} for message in request.messages
                ],
                **parameters.wire,
            },
        )
    took = (time.perf_counter() - started) * 1000
    body = parsed(request, answer)
    return _completion(request, body, parameters, took)


def _client(openai: Any, request: ModelRequest) -> Any:
    connection = request.connection
    key = connection.api_key or "none"  # the SDK wants one; a server without keys ignores it
    headers: dict[str, Any] = {"Authorization": f"Bearer {key}"}
    # the SDK would send OPENAI_ORG_ID and OPENAI_PROJECT_ID to any server
    if request.model.provider != "openai":
        headers |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
    return openai.OpenAI(
        base_url=connection.base_url,
        api_key=key,
        max_retries=0,
        timeout=timeout(request.timeout_seconds),
        default_headers=headers,
        http_client=http_client(pinned=connection.pinned),
    )


def _completion(request: ModelRequest, body: Any, parameters: Parameters, took: float) -> Completion:
    found = part_of(body)
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
        duration_ms=took,
        parameters=parameters.asked,
        not_accepted=parameters.left_out,
    )


def _text(message: Any) -> tuple[str, bool]:
    refusal = text_of(message.get("refusal"))
    if refusal is not None:
        return refusal, True
    content = message.get("content")
    if isinstance(content, list):  # parts: what the model thought beside what it said
        said = [part_of(part) for part in content]
        return "".join(text_of(part.get("text")) or "" for part in said if part.get("type") == "text"), False
    return text_of(content) or "", False
