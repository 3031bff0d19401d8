"""Whatever a test asks of the API: the answer is held to what the OpenAPI document names, field by field."""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from pydantic import TypeAdapter, ValidationError

from timemachine.api.answers import ANSWERS
from timemachine.api.answers.shape import Error

HELD: Final = f"{__name__}.Held"
_UNDER: Final = "/api/"
_ERRORS: Final = 400
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

broken: Final[list[str]] = []
"""What was answered and no document names, since a test began."""


class Held:
    """Middleware of the tests: an answer that is not as it is described is a fault."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        told = getattr(response, "content", None)
        is_json = response.get("Content-Type", "").startswith("application/json")
        if told is not None and is_json and request.path_info.startswith(_UNDER):
            hold(request, response.status_code, told)
        return response


def hold(request: HttpRequest, status: int, told: bytes) -> None:
    """Raise `AssertionError` where the answer of an operation is not the one that is named for it."""
    answer = Error if status >= _ERRORS else ANSWERS.get((*operation_of(request), status))
    if answer is None:
        return
    try:
        conforms(answer, told)
    except ValidationError as why:
        broken.append(f"{request.method} {request.path_info} answered {status}: {why}")
        raise AssertionError(broken[-1]) from why


def operation_of(request: HttpRequest) -> tuple[str, str]:
    """The method and the path by which the document knows what was asked."""
    route = request.resolver_match.route if request.resolver_match else ""
    return str(request.method).lower(), "/" + _PARAMETER.sub(r"{\1}", route)


def conforms(answer: Any, told: bytes) -> None:
    """Raise `ValidationError` where a JSON document is not of that type. Halves of a character are any character here."""
    _read(answer).validate_python(json.loads(_SURROGATE.sub(r"\\ufffd", told.decode())), strict=True)


@cache
def _read(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)
