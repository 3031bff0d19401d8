"""What a provider's refusal or silence becomes: one `ModelFailed` in the provider's own words.

Its facts: `provider`, `model`, `status` (None where no answer came), `retryable`, `retry_after_seconds` (None where the
provider did not say) and, from `calling`, `attempts`. Its codes: `model_failed`, `model_timed_out`, `model_unreachable`,
`model_not_understood`, `address_not_allowed`.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from timemachine.base.content import parse_json
from timemachine.base.errors import InvalidInput, ModelFailed
from timemachine.providers.completion import ModelRequest

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


@contextmanager
def provider_errors(vendor: Any, request: ModelRequest) -> Generator[None]:
    """Turn the errors of a vendor's client (`openai` and `anthropic` name theirs alike) into `ModelFailed`."""
    try:
        yield
    except vendor.APIStatusError as error:
        raise answered_with_error(request, error.response) from error
    except vendor.APITimeoutError as error:
        raise _timed_out(request) from error
    except vendor.APIConnectionError as error:
        if isinstance(error.__cause__, ModelFailed):  # from our own transport, which knows better
            raise error.__cause__ from None
        raise _unreachable(request, str(error.__cause__ or error)) from error


def answered_with_error(request: ModelRequest, response: Any) -> ModelFailed:
    """The failure that an answer with an error status stands for."""
    status = int(response.status_code)
    words = own_words(response.text) or _phrase(status)
    if response.is_redirect:
        words = "a redirect, which is not followed; give the address it leads to"
    advice = _ADVICE.get(status, "Try again later." if response.is_server_error else "")
    message = f"{request.model} answered {status}: {_clean(words, request)}"
    return ModelFailed(
        f"{message} {advice}".strip(),
        **_facts(request, status=status, retryable=_may_pass(response)),
        retry_after_seconds=_seconds(response.headers.get("retry-after")),
    )


def parsed(request: ModelRequest, response: Any) -> Any:
    """The JSON of an answer. Raises `ModelFailed` for what is none."""
    try:
        return parse_json(response.content)
    except InvalidInput as why:
        raise not_understood(request, why.message) from why


def not_understood(request: ModelRequest, why: str) -> ModelFailed:
    """The failure that an answer stands for which is not in the provider's format."""
    return ModelFailed(
        f"The answer of {request.model} cannot be read: {why} Check that its server speaks this protocol.",
        code="model_not_understood",
        **_facts(request, status=200, retryable=False),
        retry_after_seconds=None,
    )


def own_words(body: str) -> str:
    """What an error's body says, wherever the provider puts it; a text that is not JSON as it is. At most 500 characters."""
    try:
        found = json.loads(body)
    except ValueError:
        found = body
    return " ".join(_said(found).split())[:LONGEST_WORDS]


def _said(found: Any) -> str:
    if isinstance(found, list):
        return _said(found[0]) if found else ""
    if not isinstance(found, dict):
        return found if isinstance(found, str) else ""
    for name in ("error", "message", "detail"):
        if found.get(name):
            return _said(found[name]) or json.dumps(found[name])
    return json.dumps(found)


def _timed_out(request: ModelRequest) -> ModelFailed:
    return ModelFailed(
        f"{request.model} did not answer within {request.timeout_seconds:g} seconds. It may have been billed all the "
        f"same; try again, or choose a quicker model.",
        code="model_timed_out",
        **_facts(request, status=None, retryable=True),
        retry_after_seconds=None,
    )


def _unreachable(request: ModelRequest, why: str) -> ModelFailed:
    return ModelFailed(
        f"{request.model} cannot be reached at {request.connection.base_url}: {_clean(why, request)} "
        f"Check that it runs and that this server may connect to it.",
        code="model_unreachable",
        **_facts(request, status=None, retryable=True),
        retry_after_seconds=None,
    )


def _facts(request: ModelRequest, *, status: int | None, retryable: bool) -> dict[str, Any]:
    return {
        "provider": request.model.provider,
        "model": str(request.model),
        "status": status,
        "retryable": retryable,
    }


def _may_pass(response: Any) -> bool:
    # OpenAI says "too many requests" of an empty account too, which waiting does not fill
    busy = response.status_code in {408, 409, 429} and "insufficient_quota" not in response.text
    return busy or bool(response.is_server_error)


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header or ""))
    except ValueError:  # absent, or a date: then our own pace holds
        return None


def _clean(words: str, request: ModelRequest) -> str:
    key = request.connection.api_key
    plain = words.replace(key, "[key]") if key else words
    return plain if plain.endswith((".", "!", "?")) else f"{plain}."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason given"
