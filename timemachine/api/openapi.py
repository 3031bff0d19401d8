"""The responses in the OpenAPI document: JSON or a file for success, and one form for every error."""

from typing import Any, Final

from pydantic import TypeAdapter

from timemachine.api.errors import Error
from timemachine.core.pure.json_types import JsonObject

JSON: Final = "application/json"
_READABLE: Final = {JSON, "text/event-stream"}
_REFUSALS: Final = {
    "401": "The key is missing or invalid.",
    "403": "The key lacks the scope.",
    "404": "The project has nothing with that name or ID.",
    "413": "The request exceeds a limit; the message says which.",
    "422": "The request is invalid; the message says which part and what to send instead.",
    "default": "Another error in the same format. 409: a conflict with the current state; 429 and 503: try again after `Retry-After`.",
}


def file_answer(*media_types: str, status: int = 200) -> JsonObject:
    """Return an `openapi_extra`: the response has one of these media types."""
    bytes_of_a_file = {"type": "string", "format": "binary"}
    content = {each: {"schema": {} if each in _READABLE else bytes_of_a_file} for each in media_types}
    return {"responses": {status: {"content": content}}}


def with_refusals(document: JsonObject) -> JsonObject:
    """Return the document, in which each operation names every possible response."""
    document["components"]["schemas"]["Error"] = TypeAdapter(Error).json_schema()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(operation["responses"], _refusals(path, operation))
    return document


def _refusals(path: str, operation: JsonObject) -> list[str]:
    may_be_missing = {"404"} if "{" in path else set()
    may_be_wrong = {"422"} if operation.get("parameters") else set()
    may_be_wrong |= {"413", "422"} if "requestBody" in operation else set()
    return sorted({"401", "403", "default"} | may_be_missing | may_be_wrong)


def _complete(responses: dict[Any, Any], refusals: list[str]) -> None:
    for answer in responses.values():
        answer.setdefault("content", {JSON: {"schema": {"type": "object"}}})
    for status in refusals:
        content = {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
        responses.setdefault(status, {"description": _REFUSALS[status], "content": content})
