"""What the OpenAPI document says of answers: JSON or a file where it goes well, and one form for every refusal."""

from typing import Any, Final

from timemachine.api import answers

JSON: Final = "application/json"
_READABLE: Final = {JSON, "text/event-stream"}
_ERROR: Final = {
    "title": "Error",
    "description": "Why it was refused: `code` for programs (docs/errors.md lists them), `message` for people, `facts` for both.",
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "facts": {"type": "object"},
    },
    "required": ["code", "message", "facts"],
    "additionalProperties": False,
}
_PAGE: Final = {
    "title": "Page",
    "description": "A part of a list; `next` is what `after` has to be for the part behind it, null where there is none.",
    "type": "object",
    "properties": {"items": {"type": "array"}, "next": {"type": ["string", "null"]}},
    "required": ["next"],
}
_REFUSALS: Final = {
    "401": "No key, or one that is not valid.",
    "403": "The key may not do that: it lacks the scope.",
    "404": "The project has nothing of that name.",
    "413": "It is over a limit, which is named.",
    "422": "What was sent cannot be used: the message says which part and what to send instead.",
    "default": "Another refusal in the same form. 409 does not fit what stands already; 429 and 503 say in `Retry-After` when to come again.",
}


def file_answer(*media_types: str, status: int = 200) -> dict[str, Any]:
    """For `openapi_extra`: the answer is of one of these media types."""
    bytes_of_a_file = {"type": "string", "format": "binary"}
    content = {each: {"schema": {} if each in _READABLE else bytes_of_a_file} for each in media_types}
    return {"responses": {status: {"content": content}}}


def with_refusals(document: dict[str, Any]) -> dict[str, Any]:
    """The document, in which each operation names every answer that it can give."""
    document["components"]["schemas"] |= {"Error": _ERROR, "Page": _PAGE, **dict(answers.schemas())}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(operation["responses"], _form(operation), _refusals(path, operation))
    for (method, path, status), answer in answers.ANSWERS.items():
        responses = document["paths"][path][method]["responses"]
        responses[status]["content"][JSON]["schema"] = _named(f"{answers.PREFIX}{answer.__name__}")
    return document


def _refusals(path: str, operation: dict[str, Any]) -> list[str]:
    may_be_missing = {"404"} if "{" in path else set()
    may_be_wrong = {"422"} if operation.get("parameters") else set()
    may_be_wrong |= {"413", "422"} if "requestBody" in operation else set()
    return sorted({"401", "403", "default"} | may_be_missing | may_be_wrong)


def _form(operation: dict[str, Any]) -> dict[str, Any]:
    """What an answer is where it goes well: a page of a list, or a document."""
    asked = {each["name"] for each in operation.get("parameters", ())}
    return _named("Page") if {"limit", "after"} <= asked else {"type": "object"}


def _named(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _complete(responses: dict[Any, Any], form: dict[str, Any], refusals: list[str]) -> None:
    for answer in responses.values():
        answer.setdefault("content", {JSON: {"schema": form}})
    for status in refusals:
        content = {JSON: {"schema": _named("Error")}}
        responses.setdefault(status, {"description": _REFUSALS[status], "content": content})
