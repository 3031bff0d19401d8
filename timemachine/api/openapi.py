"""What the OpenAPI document says of answers: JSON or a file where it goes well, and one form for every refusal."""

from typing import Any, Final

from pydantic import TypeAdapter

from timemachine.api.errors import Error
from timemachine.core.pure.json_types import JsonObject

JSON: Final = "application/json"
_READABLE: Final = {JSON, "text/event-stream"}
_REFUSALS: Final = {
    "401": "No key, or one that is not valid.",
    "403": "The key may not do that: it lacks the scope.",
    "404": "The project has nothing of that name.",
    "413": "It is over a limit, which is named.",
    "422": "What was sent cannot be used: the message says which part and what to send instead.",
    "default": "Another refusal in the same form. 409 does not fit what stands already; 429 and 503 say in `Retry-After` when to come again.",
}


def file_answer(*media_types: str, status: int = 200) -> JsonObject:
    """For `openapi_extra`: the answer is of one of these media types."""
    bytes_of_a_file = {"type": "string", "format": "binary"}
    content = {each: {"schema": {} if each in _READABLE else bytes_of_a_file} for each in media_types}
    return {"responses": {status: {"content": content}}}


def with_refusals(document: JsonObject) -> JsonObject:
    """The document, in which each operation names every answer that it can give."""
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
