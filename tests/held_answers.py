"""Whatever a program of the tests asks of the API: the answer is held to what the OpenAPI document names, field by field."""

import json
import re
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from timemachine.api.answers import ANSWERS
from timemachine.api.answers.shape import Error

_ERRORS: Final = 400
_JSON: Final = "application/json"
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def held(response: Any) -> Any:
    """The response of Django's test client, if it is the one that is named for its operation. Raises `ValidationError`."""
    if response.streaming or not response.get("Content-Type", "").startswith(_JSON):
        return response
    answer = Error if response.status_code >= _ERRORS else ANSWERS.get(_asked(response))
    if answer is not None:
        conforms(answer, response.content)
    return response


def conforms(answer: Any, told: bytes) -> None:
    """Raise `ValidationError` where a JSON document is not of that type. Halves of a character are any character here."""
    _read(answer).validate_python(json.loads(_SURROGATE.sub(r"\\ufffd", told.decode())), strict=True)


def _asked(response: Any) -> tuple[str, str, int]:
    """Method, path and status, as the document has them."""
    path = "/" + _PARAMETER.sub(r"{\1}", response.resolver_match.route)
    return response.request["REQUEST_METHOD"].lower(), path, response.status_code


@cache
def _read(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)
