"""What a provider's refusal or silence becomes: one `ModelFailed` in the provider's own words.

Its facts: `provider`, `model`, `status` (None where no answer came), `retryable` and, from `calling`, `attempts` and `unsent`;
where the provider said so, `retry_after_seconds` and `provider_error` (its own words by name); where an answer had begun,
`partial_text`; where a connection failed, `connection_error`, as the system says it. Its codes: `model_failed`, `model_timed_out`, `model_unreachable`, `model_interrupted`, `model_not_understood`,
`answer_too_long`, `address_not_allowed`, `cancelled`.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
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
    403: "Check what the provider's API key may do.",
    404: "Check the model's name and the server's address.",
    413: "Ask with fewer or shorter passages.",
    422: "Change the request, or choose another model.",
    429: "Wait a while and try again.",
}
_SAID: Mapping[str, str] = {
    "connection refused": "nobody answers there",
    "peer closed connection": "the server ended the connection in the middle of its answer",
    "server disconnected": "the server ended the connection without an answer",
}


def answered_with_error(request: ModelRequest, response: Any) -> ModelFailed:
    """The failure that an answer with an error status stands for."""
    status = int(response.status_code)
    words = own_words(response.text, request.connection.api_key) or _phrase(status)
    if response.is_redirect:
        words = "a redirect, which is not followed; give the address it leads to"
    wait = _seconds(response.headers.get("retry-after"))
    advice = _ADVICE.get(status, "Try again later." if response.is_server_error else "")
    if status == HTTPStatus.TOO_MANY_REQUESTS and wait is not None and wait >= 1:
        advice = f"Wait {wait:.0f} s and try again."
    message = f"{request.model} answered {status}: {_clean(words, request)}"
    asked: dict[str, Any] = {} if wait is None else {"retry_after_seconds": wait}
    return ModelFailed(
        f"{message} {advice}".strip(),
        **_facts(request, status=status, retryable=_may_pass(response)),
        **asked,
        provider_error=_provider_error(request, words, _object(response.text), response.headers),
    )


def error_in_stream(request: ModelRequest, event: Mapping[str, Any]) -> ModelFailed:
    """The failure that an error inside a streamed answer stands for: the answer had begun, so nothing is repeated."""
    words = own_words(json.dumps(event), request.connection.api_key) or "an error without a word"
    return ModelFailed(
        f"{request.model} broke off its answer: {_clean(words, request)} It may have been billed; try again later.",
        **_facts(request, status=200, retryable=True),
        code="model_interrupted",
        provider_error=_provider_error(request, words, event, {}),
    )


def parsed(request: ModelRequest, content: bytes, content_type: str | None) -> Any:
    """The JSON of an answer. Raises `ModelFailed` for what is none."""
    try:
        return parse_json(content)
    except InvalidInput as why:
        sent = (content_type or "no content type").partition(";")[0]
        raise not_understood(request, f"it was sent as {sent}. {why.message}") from why


def not_understood(request: ModelRequest, why: str) -> ModelFailed:
    """The failure that an answer stands for which is not in the provider's format."""
    return ModelFailed(
        f"The answer of {request.model} cannot be read: {_clean(why, request)} It may have been billed. Check that its server "
        f"speaks this protocol.",
        code="model_not_understood",
        **_facts(request, status=200, retryable=False),
    )


def interrupted(request: ModelRequest, why: str) -> ModelFailed:
    """The failure that a connection stands for which broke off after the question was sent."""
    return ModelFailed(
        f"The answer of {request.model} broke off: {_clean(why, request)} It may have been billed, so it was not asked again; "
        f"try again when its server is well.",
        code="model_interrupted",
        **_facts(request, status=None, retryable=True),
    )


def too_long(request: ModelRequest) -> ModelFailed:
    """The failure of an answer that no record could hold."""
    return ModelFailed(
        f"The answer of {request.model} is longer than {LONGEST_TEXT:,} characters and was not read on. It may have been billed; "
        f"ask for fewer tokens.",
        code="answer_too_long",
        **_facts(request, status=200, retryable=False),
    )


def cancelled(request: ModelRequest, *, sent: bool) -> Cancelled:
    """The end that somebody put to a call; `sent` says whether any of its attempts got as far as to send the question."""
    facts = _facts(request, status=None, retryable=True)
    if sent:
        return Cancelled(
            f"The call of {request.model} was cancelled before its end. What its provider had begun may have been billed.",
            **facts,
        )
    return Cancelled(
        f"The call of {request.model} was cancelled before anything was sent to its provider, so it cost nothing.",
        **facts,
        unsent=True,
    )


def about(request: ModelRequest, failed: ModelFailed) -> ModelFailed:
    """A failure of our own transport, which does not know the model."""
    return ModelFailed(
        failed.message, code=failed.code, **{**_facts(request, status=None, retryable=False), **failed.facts}
    )


def in_short(failed: ModelFailed) -> str:
    """What happened, in a sentence without advice: for somebody who waits while the call is repeated."""
    status, said = failed.facts.get("status"), failed.facts.get("provider_error", {}).get("message")
    if status is None or not said:
        return failed.message
    return f"{failed.facts['model']} answered {status}: {_full_stop(str(said))}"


def own_words(body: str, key: str | None = None) -> str:
    """What an error's body says, wherever the provider puts it; a text that is not JSON as it is. At most 500 characters.

    The key is taken out before anything is cut off, or a part of it would stay.
    """
    try:
        found = json.loads(body)
    except ValueError:
        found = body
    return " ".join(_without(key, _said(found)).split())[:LONGEST_WORDS]


def _said(found: Any) -> str:
    if isinstance(found, list):
        return _said(found[0]) if found else ""
    if not isinstance(found, dict):
        return found if isinstance(found, str) else ""
    for name in ("error", "message", "detail"):
        if found.get(name):
            return _said(found[name]) or json.dumps(found[name])
    return json.dumps(found)


def timed_out(request: ModelRequest) -> ModelFailed:
    """The failure of a provider that was silent for too long, or did not come to an end."""
    return ModelFailed(
        f"{request.model} did not answer within {request.timeout_seconds:g} seconds, or not to the end within "
        f"{request.whole_seconds:g}. It may have been billed all the same; try again, or choose a quicker model.",
        code="model_timed_out",
        **_facts(request, status=None, retryable=True),
    )


def broke_off(request: ModelRequest, said: str) -> ModelFailed:
    """The failure of a connection that broke off after the question was sent; `said` is what the system says of it."""
    why = _in_words(said) or f"the connection broke off ({said})"
    return _with_said(interrupted(request, why), request, said)


def unreachable(request: ModelRequest, said: str) -> ModelFailed:
    """The failure of a server to which there is no connection; `said` is what the system says of it."""
    failed = ModelFailed(
        f"{request.model} cannot be reached: {_clean(_in_words(said) or said, request)} Check that its server runs at the address that is "
        f"set for it, and that this server may connect to it.",
        code="model_unreachable",
        **_facts(request, status=None, retryable=True),
    )
    return _with_said(failed, request, said)


def _in_words(said: str) -> str | None:
    return next((words for part, words in _SAID.items() if part in said.lower()), None)


def _with_said(failed: ModelFailed, request: ModelRequest, said: str) -> ModelFailed:
    known = _without(request.connection.api_key, said)[:LONGEST_WORDS]
    return ModelFailed(failed.message, code=failed.code, **failed.facts, connection_error=known)


def _facts(request: ModelRequest, *, status: int | None, retryable: bool) -> dict[str, Any]:
    return {
        "provider": request.model.provider,
        "model": str(request.model),
        "status": status,
        "retryable": retryable,
    }


def _provider_error(
    request: ModelRequest, words: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> dict[str, str]:
    """What the provider said of its own error, under one set of names, without the key and without what it did not say."""
    said = part_of(body.get("error"))
    asked = headers.get("x-request-id") or headers.get("request-id") or body.get("request_id")
    found = {
        "message": words,
        **{name: said.get(name) or body.get(name) for name in ("type", "code", "param")},
        "request_id": asked,
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
    # OpenAI says "too many requests" of an empty account too, which waiting does not fill
    busy = response.status_code in {408, 409, 429} and "insufficient_quota" not in response.text
    return busy or bool(response.is_server_error)


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:  # absent, or a date: then our own pace holds
        return None
    return max(0.0, seconds) if isfinite(seconds) else None


def _clean(words: str, request: ModelRequest) -> str:
    return _full_stop(_without(request.connection.api_key, words))


def _full_stop(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _without(key: str | None, words: str) -> str:
    """The words without the key, also as JSON writes it, with its slashes escaped or not."""
    if not key:
        return words
    escaped = json.dumps(key)[1:-1]
    for written in (key, escaped, escaped.replace("/", "\\/")):
        words = words.replace(written, "[key]")
    return words


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason given"
