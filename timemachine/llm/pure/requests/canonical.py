"""The canonical form of a request: what it says, however its JSON is written.

The order of keys, whitespace and the forms of a number (`1`, `1.0`, `1e0`) do not matter, nor does the form of Unicode
in arguments (NFC, https://unicode.org/reports/tr15/). The order of messages, of their parts and of tools does.
"""

import json
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, Final
from unicodedata import normalize

from timemachine.llm.pure.requests.json_values import checked, is_number
from timemachine.llm.pure.requests.neutral import Request, ToolCall

FREE_TEXT: Final = "input"
"""The argument that holds the text of a tool with free text where a model calls functions only."""


def canonical_json(request: Request) -> str:
    """Return the request as canonical JSON of ASCII characters. Two requests that say the same have the same.

    Raises:
        RequestError: A value in it is nested too deeply, or is not a JSON number.
    """
    return as_json(form_of(request))


def request_sha256(request: Request) -> str:
    """Return the SHA-256 of the canonical JSON, in hexadecimal.

    Raises:
        RequestError: As `canonical_json`.
    """
    return sha256(canonical_json(request).encode("ascii")).hexdigest()


def canonical_arguments(call: ToolCall) -> str:
    """Return the arguments of a call as canonical JSON, and those that are not JSON as a JSON string.

    A text and the same text as `input` alone are the same: tools that take free text take it so from models that call
    functions only.

    Raises:
        RequestError: They are nested too deeply, or have a number that JSON does not have.
    """
    checked(call.arguments, "The value")
    return as_json(normal(free_text(call.arguments) if call.raw is None else call.raw))


def free_text(arguments: Any) -> Any:
    """Return the text that is the only argument, as `input`; any other arguments as they are."""
    if (
        isinstance(arguments, dict)
        and arguments.keys() == {FREE_TEXT}
        and isinstance(arguments[FREE_TEXT], str)
    ):
        return arguments[FREE_TEXT]
    return arguments


def as_json(value: Any) -> str:
    """Write a normal value without whitespace and with sorted names."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def normal(value: Any, *, unicode: bool = True) -> Any:
    """Return a JSON value with whole numbers as integers, and with texts in NFC if `unicode`."""
    if isinstance(value, str):
        return normalize("NFC", value) if unicode else value
    if is_number(value):
        return int(value) if value == int(value) else value
    if isinstance(value, list | tuple):
        return [normal(each, unicode=unicode) for each in value]
    if isinstance(value, dict):
        found = {normal(name, unicode=unicode): normal(each, unicode=unicode) for name, each in value.items()}
        same = len(found) == len(value)
        return found if same else {name: normal(each, unicode=unicode) for name, each in value.items()}
    return value


def form_of(value: Any) -> Any:
    """Return a value of `neutral` as JSON: its kind, and the fields that have a value.

    Raises:
        RequestError: A value in it is nested too deeply, or has a number that JSON does not have.
    """
    if isinstance(value, ToolCall):
        checked(value.arguments)
        arguments = normal(value.arguments if value.raw is None else value.raw)
        return {**_fields(value, "arguments", "raw"), "arguments": arguments, "is_json": value.raw is None}
    if isinstance(value, tuple):
        return [form_of(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    checked(value)
    return normal(value, unicode=False)


def _fields(value: Any, *others: str) -> dict[str, Any]:
    found = {"is": type(value).__name__}
    for each in fields(value):
        stated = getattr(value, each.name)
        default = stated is each.default or stated in ((), {})
        if not default and each.name not in others:
            found[each.name] = form_of(stated)
    return found
