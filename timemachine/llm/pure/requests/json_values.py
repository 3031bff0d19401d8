"""Reading JSON of unknown shape: checked fields, and the arguments of tool calls."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.neutral import Extra

DEEPEST: Final = 200
"""The most levels of nesting that a request may have."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class RequestError(InvalidInput):
    """The value is not a request of this API. The message names the place."""

    default_code = "request_not_readable"


def checked(value: object, what: str = "The request") -> None:
    """Check that a value is JSON that can be processed.

    Raises:
        RequestError: It is nested more than `DEEPEST` levels, or has a number that JSON does not have.
    """
    level = [value]
    for _ in range(DEEPEST + 1):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
            elif isinstance(each, float) and not math.isfinite(each):
                raise RequestError(f"{what} contains a number that is too large for JSON or is not a number.")
        if not inner:
            return
        level = inner
    raise RequestError(f"{what} is nested more than {DEEPEST} levels deep.")


def body_of(value: object) -> JsonObject:
    """Return the body of a request or of an answer.

    Raises:
        RequestError: It is not a JSON object, or not valid JSON.
    """
    if not isinstance(value, dict):
        raise RequestError("The request is not a JSON object.")
    checked(value)
    return value


def objects_at(found: Mapping[str, Any], name: str, where: str = "") -> list[JsonObject]:
    """Return a list of objects in a field, empty if the field is absent.

    Raises:
        RequestError: It is something else.
    """
    value = found.get(name)
    place = f"{where}{name}"
    if value is None:
        return []
    if not isinstance(value, list):
        raise RequestError(f"`{place}` is not a list.")
    for number, each in enumerate(value):
        if not isinstance(each, dict):
            raise RequestError(f"`{place}[{number}]` is not a JSON object.")
    return value


def text_at(found: Mapping[str, Any], name: str) -> str | None:
    """Return the text in a field, None if it has no text."""
    value = found.get(name)
    return value if isinstance(value, str) else None


def object_at(found: Mapping[str, Any], name: str) -> JsonObject:
    """Return the object in a field, an empty one if it has none."""
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def name_at(found: Mapping[str, Any], where: str) -> str:
    """Return the name of a tool.

    Raises:
        RequestError: It has none.
    """
    name = text_at(found, "name")
    if not name:
        raise RequestError(f"`{where}` has no name.")
    return name


def rest(found: Mapping[str, Any], *known: str) -> JsonObject:
    """Return the fields with a value, except the known ones."""
    return {name: value for name, value in found.items() if name not in known and value is not None}


def extra_of(provider: str, fields: JsonObject) -> Extra:
    """Return fields under the name of their API; nothing if there are none."""
    return {provider: fields} if fields else {}


def arguments_of(value: Any) -> tuple[Any, str | None]:
    """Return the arguments of a call as JSON, and their text if they are not JSON.

    OpenAI and compatible servers send a text of JSON, and some an empty text for a call without arguments. The text is
    also kept if it repeats a name or has a number that is too large, so that nothing is lost.
    """
    if not isinstance(value, str):
        return ({} if value is None else value), None
    if not value.strip():
        return {}, None
    try:
        parsed = json.loads(value, parse_constant=_no_number, object_pairs_hook=_without_repeated_names)
        checked(parsed)
    except (ValueError, RecursionError, RequestError):
        return None, value
    return parsed, None


def _no_number(name: str) -> None:
    raise ValueError(name)


def _without_repeated_names(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A name is repeated.")
    return found


def as_text(value: Any) -> str:
    """Write JSON as text, with characters as they are. Halves of surrogate pairs, which UTF-8 lacks, are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _SURROGATE.search(text) else text


def is_number(value: Any) -> bool:
    """Return whether the value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Return whether the value is a JSON integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_boolean(value: Any) -> bool:
    """Return whether the value is true or false."""
    return isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Return whether the value is a text."""
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    """Return whether the value is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def is_only_text(part: Mapping[str, Any]) -> bool:
    """Return whether a part has a text and nothing else, so that the text can be sent alone."""
    return set(part) == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)


def non_empty(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the fields that are not empty."""
    return (name for name, value in fields.items() if value not in (None, "", [], {}, False))
