"""Every error as JSON in one form: `code`, `message`, `facts`, with the right status."""

import logging
import re
from collections.abc import Callable, Mapping
from math import ceil, isfinite
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from timemachine.api.access import Caller
from timemachine.core.database import failure_of
from timemachine.core.pure.errors import (
    InvalidInput,
    NotFound,
    NotSignedIn,
    TimeMachineError,
    TooLarge,
)
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.log_context import of_this_request, with_request_id
from timemachine.core.pure.schemas import Schema
from timemachine.core.routes import route_of

log = logging.getLogger(__name__)

_JSON: Final = "application/json; charset=utf-8"
_UNDER: Final = "/api/"
_ERRORS, _FAULTS = 400, 500


class Error(Schema):
    """Why a request was refused: `code` for programs (docs/errors.md lists them), `message` for people, `facts` for both.

    `request_id` is also in the header `X-Request-ID`, and in the server's log.
    """

    code: str
    message: str
    facts: JsonObject
    request_id: str | None


class MethodNotAllowed(InvalidInput):
    """The address knows other methods."""

    status = 405
    default_code = "method_not_allowed"


class Unsupported(InvalidInput):
    """The body has a form or a packing that is not read here."""

    status = 415
    default_code = "unsupported_media_type"


class _NotUnderstood(InvalidInput):
    status = 400
    default_code = "invalid_request"


def install(api: NinjaAPI) -> None:
    """Let the API answer every error in the form of the contract."""
    kinds: tuple[type[Exception], ...] = (
        TimeMachineError,
        AuthenticationError,
        ValidationError,
        Http404,
        HttpError,
        Exception,
    )

    def answer(request: HttpRequest, error: Any) -> HttpResponse:
        return _answer(api, request, error)

    for kind in kinds:
        api.add_exception_handler(kind, answer)


class ApiErrors:
    """Middleware: give the API's form to errors that Django itself raises under `/api/`, such as an unknown address or method."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        has_our_form = response.status_code < _ERRORS or "json" in response.get("Content-Type", "")
        if has_our_form or not request.path_info.startswith(_UNDER):
            return response
        answer = refusal(_refused_by_django(request, response))
        if "Allow" in response:
            answer["Allow"] = response["Allow"]
        return answer


def _refused_by_django(request: HttpRequest, response: HttpResponseBase) -> TimeMachineError:
    if response.status_code == MethodNotAllowed.status:
        return MethodNotAllowed(f"{request.method} is not supported here. Use one of: {response['Allow']}.")
    if response.status_code == NotFound.status:
        return _no_address()
    if response.status_code < _FAULTS:
        return _NotUnderstood("The server could not read this request. Check its URL, fields and headers.")
    return _fault()


def _answer(api: NinjaAPI, request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(error, HttpError) and isinstance(error.__cause__, TimeMachineError | SuspiciousOperation):
        error = error.__cause__  # ninja wraps what reading the body raised
    if isinstance(error, SuspiciousOperation) and not isinstance(error, RequestDataTooBig):
        error = HttpError(400, "The server could not read this request. Send fewer or smaller fields.")
    if isinstance(error, HttpError) and not isinstance(error, AuthenticationError):
        facts = {"code": "invalid_request", "message": str(error), "facts": {}}
        return api.create_response(request, with_request_id(facts), status=error.status_code)
    return refusal(_ours(request, error))


def refusal(error: TimeMachineError) -> HttpResponse:
    """Return the error as a response, with `Retry-After` if it says when to try again."""
    response = JsonResponse(with_request_id(error.as_json()), status=error.status, content_type=_JSON)
    wait = error.facts.get("retry_after_seconds")
    if wait is not None and isfinite(wait):
        response["Retry-After"] = str(ceil(wait))
    return response


def _ours(request: HttpRequest, error: Exception) -> TimeMachineError:
    if isinstance(error, TimeMachineError):
        return error if error.code != "session_deleted" or _may_read(request) else _only_deleted(error)
    if isinstance(error, AuthenticationError):
        return NotSignedIn("Send an API key: Authorization: Bearer tmk_…. Create one under Settings.")
    if isinstance(error, ValidationError):
        return _invalid(error)
    if isinstance(error, RequestDataTooBig):
        limit = settings.MAX_REQUEST_BYTES
        return TooLarge(f"A request can have at most {limit:,} bytes. Split it into several.", limit=limit)
    if isinstance(error, Http404):
        return _no_address()
    return _failed(request, error)


def _may_read(request: HttpRequest) -> bool:
    who = getattr(request, "auth", None)
    return isinstance(who, Caller) and "read" in who.key.scopes


def _only_deleted(error: TimeMachineError) -> NotFound:
    """Return the error without who deleted the session and why, for a key that cannot read."""
    return NotFound(
        "This session was deleted. Nothing can be recorded in it.",
        code=error.code,
        session=error.facts["session"],
    )


def _failed(request: HttpRequest, error: Exception) -> TimeMachineError:
    failure = failure_of(error)
    if failure:
        log.error("%s %s failed (%s): %s", request.method, route_of(request), failure.code, failure.details)
        return failure.refusal()
    log.error("%s %s failed", request.method, route_of(request), exc_info=error)
    return _fault()


def _fault() -> TimeMachineError:
    return TimeMachineError(f"Internal error. Details are in the server's log{of_this_request()}.")


def _no_address() -> NotFound:
    return NotFound("There is no such API endpoint. See /api/docs for the list.")


def _invalid(error: ValidationError) -> InvalidInput:
    problems = [_problem(each) for each in error.errors]
    return InvalidInput(
        " ".join(_sentence(each) for each in problems[:3]), code="invalid_request", problems=problems
    )


_SAYS: Final = {
    "greater_than_equal": "must be {ge:,} or more",
    "greater_than": "must be more than {gt:,}",
    "less_than_equal": "must be {le:,} or less",
    "less_than": "must be less than {lt:,}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "string_too_short": "must have {min_length:,} characters or more",
    "string_too_long": "must have at most {max_length:,} characters",
    "too_short": "must list {min_length:,} or more",
    "too_long": "must list at most {max_length:,}",
    "finite_number": "must be a finite number",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "uuid_type": "must be an ID returned by the server",
    "uuid_parsing": "must be an ID returned by the server",
    "extra_forbidden": "there is no such field",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "timezone_aware": "must be a time with its zone, such as 2026-11-23T18:00:00Z",
    "datetime_type": "must be a time such as 2026-11-23T18:00:00Z",
    "datetime_parsing": "must be a time such as 2026-11-23T18:00:00Z",
    "datetime_from_date_parsing": "must be a time such as 2026-11-23T18:00:00Z",
}
"""What a field has to be, by type of error. For other types, pydantic's message is used without its set phrases."""
_THEIRS: Final = re.compile(r"Input should (?=be )|Value error, ")
_WORD: Final = re.compile(r"'([^']*)'")
_BEFORE_A_FIELD: Final = ({"body", "query", "path", "header"}, {"payload"})
"""Parts of a location before the name of the field: where it was sent, and the parameter of the operation."""


def _problem(found: Mapping[str, Any]) -> dict[str, str]:
    where = [str(part) for part in found.get("loc", ())]
    for before in _BEFORE_A_FIELD:
        where = where[1:] if where and where[0] in before else where
    kind = str(found.get("type", ""))
    facts = {name: _plain(value) for name, value in (found.get("ctx") or {}).items()}
    if kind == "literal_error":
        return {"field": ".".join(where), "type": kind, "says": _one_of(str(facts["expected"]))}
    says = _SAYS[kind].format(**facts) if kind in _SAYS else _in_our_words(str(found.get("msg", "")))
    return {"field": ".".join(where), "type": kind, "says": says}


def _one_of(expected: str) -> str:
    """Return the allowed words; the empty one, which means any, is left out."""
    words = [word for word in _WORD.findall(expected) if word]
    return f"must be {'one of ' if len(words) > 1 else ''}{', '.join(words)}"


def _plain(value: Any) -> Any:
    """Return a limit as it is written: 1 and not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _in_our_words(message: str) -> str:
    """`must be …`, and what our own checks say as they say it, without a second full stop."""
    text = _THEIRS.sub(lambda theirs: "must " if theirs[0].startswith("Input") else "", message, count=1)
    return text.removesuffix(".")


def _sentence(problem: dict[str, str]) -> str:
    field = problem["field"] or "the request"
    if problem["type"] == "extra_forbidden":
        return f"There is no field `{field}`. Leave it out."
    if problem["type"] == "missing":
        return f"`{field}` is missing."
    says = problem["says"]
    return f"`{field}` {says}." if says.startswith("must ") else f"`{field}`: {says}."
