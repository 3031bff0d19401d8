"""Validate every response that a test gets from the API against the OpenAPI document, field by field."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from timemachine.api.errors import Error
from timemachine.api.urls import api
from timemachine.core.pure.schemas import Schema
from timemachine.core.pure.streams import CUT_OFF

_ERRORS: Final = 400
_JSON: Final = "application/json"
_OF_PATH: Final = re.compile(r"{(?:\w+:)?(\w+)}")
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def held(response: Any) -> Any:
    """Check a response of Django's test client against the schema of its operation, and return it. A stream is checked while it is read.

    Raises `ValidationError`, and `AssertionError` for a successful status that is not documented.
    """
    answer = Error if response.status_code >= _ERRORS else _named(response)
    if answer is None or not response.get("Content-Type", "").startswith(_JSON):
        return response
    if response.streaming:
        response.streaming_content = _read_and_held(answer, response.streaming_content)
    else:
        conforms(answer, response.content)
    return response


def _named(response: Any) -> Any:
    """Return the schema for an operation and status; None for one that returns only files, or for a path that is not an operation."""
    method, path, status = _asked(response)
    answers = typed_responses()
    named = {code for known, at, code in answers if (known, at) == (method, path)}
    assert not named or status in named, f"{method} {path} answers {status}; named are {sorted(named)}"
    return answers.get((method, path, status))


@cache
def typed_responses() -> dict[tuple[str, str, int], Any]:
    """Return the schemas of responses by method, path and status."""
    found: dict[tuple[str, str, int], Any] = {}
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            at = _OF_PATH.sub(r"{\1}", f"/api{router.prefix}{path}")
            for operation in view.operations:
                for status, model in operation.response_models.items():
                    answer = getattr(model, "model_fields", {}).get("response")
                    if answer is not None and _is_schema(answer.annotation):
                        found |= {(m.lower(), at, status): answer.annotation for m in operation.methods}
    return found


def _is_schema(answer: Any) -> bool:
    several = get_args(answer) if isinstance(answer, UnionType) else (answer,)
    return all(isinstance(each, type) and issubclass(each, Schema) for each in several)


def _read_and_held(answer: Any, pieces: Iterable[bytes]) -> Iterator[bytes]:
    content = b""
    for piece in pieces:
        content += piece
        yield piece
    if not content.endswith(CUT_OFF):
        conforms(answer, content)


def conforms(answer: Any, content: bytes) -> None:
    """Raise `ValidationError` if a JSON document does not match the type. Surrogate halves count as any character."""
    _read(answer).validate_json(_SURROGATE.sub(r"\\ufffd", content.decode()), strict=True)


def _asked(response: Any) -> tuple[str, str, int]:
    """Return method, path and status, as in the document."""
    path = "/" + _PARAMETER.sub(r"{\1}", response.resolver_match.route)
    return response.request["REQUEST_METHOD"].lower(), path, response.status_code


@cache
def _read(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)
