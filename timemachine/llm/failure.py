"""Turns a provider's refusal, failure or silence into one `ModelFailed` with the provider's own message.

Its facts are `provider`, `model`, `status` (None without a response), `retryable` and, from `calling`, `attempts`,
`unsent` and `refused`. If known, they include `retry_after_seconds`, `provider_error` (the provider's details by name),
`partial_text` (if the answer had begun) and `connection_error` (the system's message). Its codes are `model_failed`,
`model_timed_out`, `model_unreachable`, `model_interrupted`, `model_not_understood`, `answer_too_long`,
`address_not_allowed`, `cancelled`.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from http.client import responses
from math import isfinite
from typing import Any

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import Cancelled, InvalidInput, ModelFailed
from timemachine.llm.pure.completion import LONGEST_TEXT, ModelRequest
from timemachine.llm.pure.usage import part_of

LONGEST_WORDS = 500

_ADVICE: Mapping[int, str] = {
    400: "Change the request, or choose another model.",
    401: "Check the provider's API key.",
    402: "Check the account at the provider.",
    403: "Check the permissions of the provider's API key.",
    404: "Check the model's name and the server's address.",
    413: "Ask with fewer or shorter passages.",
    422: "Change the request, or choose another model.",
    429: "Wait a moment and try again.",
}
_CONNECTION_ERRORS: Mapping[str, str] = {
    "connection refused": "no server is listening there",
    "peer closed connection": "the server closed the connection in the middle of its answer",
    "server disconnected": "the server closed the connection without an answer",
}


def error_response(request: ModelRequest, response: Any) -> ModelFailed:
    """Return the failure for a response with an error status."""
    status = int(response.status_code)
    words = provider_message(response.text, request.connection.api_key)
    words = words or responses.get(status, "no reason given")
    if response.is_redirect:
        words = "a redirect, which is not followed; use the address it points to"
    wait = _seconds(response.headers.get("retry-after"))
    advice = _ADVICE.get(status, "Try again later." if response.is_server_error else "")
    if status == HTTPStatus.TOO_MANY_REQUESTS and wait is not None and wait >= 1:
        advice = f"Wait {wait:.0f} s and try again."
    message = f"{request.model} returned {status}: {_clean(words, request)}"
    facts: Mapping[str, Any] = {} if wait is None else {"retry_after_seconds": wait}
    return ModelFailed(
        f"{message} {advice}".strip(),
        **_facts(request, status=status, retryable=_may_pass(response)),
        **facts,
        provider_error=_provider_error(request, words, _object(response.text), response.headers),
    )


def error_in_stream(request: ModelRequest, event: Mapping[str, Any]) -> ModelFailed:
    """Return the failure for an error in a streamed answer. The answer had begun, so it is not retried."""
    words = provider_message(json.dumps(event), request.connection.api_key) or "an error without a message"
    return ModelFailed(
        f"{request.model} interrupted its answer: {_clean(words, request)} It may have been billed. Try again later.",
        **_facts(request, status=200, retryable=True),
        code="model_interrupted",
        provider_error=_provider_error(request, words, event, {}),
    )


def parsed(request: ModelRequest, content: bytes, content_type: str | None) -> Any:
    """Parse the JSON of a response. Raises `ModelFailed`."""
    try:
        return parse_json(content)
    except InvalidInput as why:
        sent = (content_type or "no content type").partition(";")[0]
        raise not_understood(request, f"it was sent as {sent}. {why.message}") from why


def not_understood(request: ModelRequest, why: str) -> ModelFailed:
    """Return the failure for a response that is not in the provider's format."""
    return ModelFailed(
        f"The answer of {request.model} cannot be read: {_clean(why, request)} It may have been billed. Check that its server "
        f"uses this protocol.",
        code="model_not_understood",
        **_facts(request, status=200, retryable=False),
    )


def interrupted(request: ModelRequest, why: str) -> ModelFailed:
    """Return the failure for a connection that was lost after the question was sent."""
    return ModelFailed(
        f"The answer of {request.model} was interrupted: {_clean(why, request)} It may have been billed, so it was not retried. "
        f"Try again when its server is working.",
        code="model_interrupted",
        **_facts(request, status=None, retryable=True),
    )


def too_long(request: ModelRequest) -> ModelFailed:
    """Return the failure for an answer that is too long to record."""
    return ModelFailed(
        f"The answer of {request.model} is longer than {LONGEST_TEXT:,} characters, so reading stopped. It may have been billed. Request fewer "
        f"tokens.",
        code="answer_too_long",
        **_facts(request, status=200, retryable=False),
    )


def cancelled(request: ModelRequest, *, sent: bool) -> Cancelled:
    """Return the error for a cancelled call. `sent` says whether any attempt sent the question."""
    facts = _facts(request, status=None, retryable=True)
    if sent:
        return Cancelled(
            f"The call to {request.model} was cancelled before it finished. It may have been billed.",
            **facts,
        )
    return Cancelled(
        f"The call to {request.model} was cancelled before anything was sent to the provider, so it cost nothing.",
        **facts,
        unsent=True,
    )


def of_transport(request: ModelRequest, failed: ModelFailed) -> ModelFailed:
    """Add the model to a failure of our own transport, which does not know it."""
    return ModelFailed(
        failed.message, code=failed.code, **{**_facts(request, status=None, retryable=False), **failed.facts}
    )


def summary(failed: ModelFailed) -> str:
    """Return what happened in one sentence without advice, for a client that waits while the call is retried."""
    status, details = failed.facts.get("status"), failed.facts.get("provider_error", {}).get("message")
    if status is None or not details:
        return failed.message
    return f"{failed.facts['model']} returned {status}: {_full_stop(str(details))}"


def provider_message(body: str, key: str | None = None) -> str:
    """Return the message in an error's body, wherever the provider puts it, or text that is not JSON as it is.

    At most 500 characters. The key is removed before the text is cut; otherwise a part of it could remain.
    """
    try:
        found = json.loads(body)
    except ValueError:
        found = body
    return " ".join(_without(key, _message_in(found)).split())[:LONGEST_WORDS]


def _message_in(found: Any) -> str:
    if isinstance(found, list):
        return _message_in(found[0]) if found else ""
    if not isinstance(found, dict):
        return found if isinstance(found, str) else ""
    for name in ("error", "message", "detail"):
        if found.get(name):
            return _message_in(found[name]) or json.dumps(found[name])
    return json.dumps(found)


def timed_out(request: ModelRequest) -> ModelFailed:
    """Return the failure for a provider that was silent for too long, or did not finish in time."""
    return ModelFailed(
        f"{request.model} did not start answering within {request.timeout_seconds:g} seconds or finish within "
        f"{request.whole_seconds:g} seconds. It may have been billed. Try again, or choose a faster model.",
        code="model_timed_out",
        **_facts(request, status=None, retryable=True),
    )


def connection_lost(request: ModelRequest, details: str) -> ModelFailed:
    """Return the failure for a connection that was lost after the question was sent. `details` is the system's message."""
    why = _explanation(details) or f"the connection was lost ({details})"
    return _with_connection_error(interrupted(request, why), request, details)


def unreachable(request: ModelRequest, details: str) -> ModelFailed:
    """Return the failure for a server that cannot be connected to. `details` is the system's message."""
    failed = ModelFailed(
        f"{request.model} cannot be reached: {_clean(_explanation(details) or details, request)} Check that its server is running at the "
        f"configured address and that this server can connect to it.",
        code="model_unreachable",
        **_facts(request, status=None, retryable=True),
    )
    return _with_connection_error(failed, request, details)


def _explanation(details: str) -> str | None:
    return next((words for part, words in _CONNECTION_ERRORS.items() if part in details.lower()), None)


def _with_connection_error(failed: ModelFailed, request: ModelRequest, details: str) -> ModelFailed:
    known = _without(request.connection.api_key, details)[:LONGEST_WORDS]
    return ModelFailed(failed.message, code=failed.code, **failed.facts, connection_error=known)


def _facts(request: ModelRequest, *, status: int | None, retryable: bool) -> Mapping[str, Any]:
    return {
        "provider": request.model.provider,
        "model": str(request.model),
        "status": status,
        "retryable": retryable,
    }


def _provider_error(
    request: ModelRequest, words: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> dict[str, str]:
    """Return the provider's details of its error under uniform names, without the key and without absent ones."""
    details = part_of(body.get("error"))
    request_id = headers.get("x-request-id") or headers.get("request-id") or body.get("request_id")
    found = {
        "message": words,
        **{name: details.get(name) or body.get(name) for name in ("type", "code", "param")},
        "request_id": request_id,
    }
    return {
        name: _without(request.connection.api_key, str(value))[:LONGEST_WORDS]
        for name, value in found.items()
        if isinstance(value, str | int) and value
    }


def _object(body: str) -> Mapping[str, Any]:
    try:
        return part_of(json.loads(body))
    except ValueError:
        return {}


def _may_pass(response: Any) -> bool:
    # OpenAI also says "too many requests" if an account is empty, which waiting does not change
    busy = response.status_code in {408, 409, 429} and "insufficient_quota" not in response.text
    return busy or bool(response.is_server_error)


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:  # absent, or a date: then our own waiting time applies
        return None
    return max(0.0, seconds) if isfinite(seconds) else None


def _clean(words: str, request: ModelRequest) -> str:
    return _full_stop(_without(request.connection.api_key, words))


def _full_stop(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _without(key: str | None, words: str) -> str:
    """Return the words without the key, also as it is written in JSON, with its slashes escaped or not."""
    if not key:
        return words
    escaped = json.dumps(key)[1:-1]
    for written in (key, escaped, escaped.replace("/", "\\/")):
        words = words.replace(written, "[key]")
    return words
