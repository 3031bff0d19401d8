"""The parameters of a request: which of an API's fields mean the same as those of another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    extra_of,
    is_boolean,
    is_integer,
    is_number,
    is_text,
    is_texts,
    rest,
)
from timemachine.llm.pure.requests.neutral import Extra, Parameters
from timemachine.llm.pure.requests.notes import Notes

_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "max_tokens": is_integer,
    "temperature": is_number,
    "top_p": is_number,
    "stop": is_texts,
    "seed": is_integer,
    "frequency_penalty": is_number,
    "presence_penalty": is_number,
    "effort": is_text,
    "verbosity": is_text,
    "parallel_tool_calls": is_boolean,
}
NOT_READ: Final = frozenset({"stream", "stream_options"})
"""How the answer is delivered: not part of a request."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What was read: the parameters by our names, and the fields that only this API knows."""

    known: JsonObject
    others: JsonObject

    def parameters(self, provider: str) -> Parameters:
        """Return them as parameters."""
        stop = tuple(self.known.get("stop", ()))
        return Parameters(**{**self.known, "stop": stop}, extra=extra_of(provider, self.others))


def read_fields(body: Mapping[str, Any], names: Mapping[str, str], handled: frozenset[str]) -> Fields:
    """Read the parameters of a body. `names` has our name for each field of the API; the first of two fields with the
    same name counts. A field of an unexpected type is kept as it is.
    """
    known: JsonObject = {}
    used = set(handled | NOT_READ)
    stated = {name: field for field, name in reversed([*names.items()]) if body.get(field) is not None}
    for name, field in stated.items():
        if _CHECKS[name](body[field]) and body[field] != []:
            known[name] = body[field]
            used.add(field)
    return Fields(known, rest(body, *used))


def write_fields(parameters: Parameters, names: Mapping[str, str], notes: Notes) -> JsonObject:
    """Return the fields of an API for parameters; `names` has the field for each of our names. What the API has no
    field for is noted.
    """
    body: JsonObject = {}
    for each in fields(Parameters):
        value = getattr(parameters, each.name)
        if each.name == "extra" or value is None or value == ():
            continue
        if each.name in names:
            body[names[each.name]] = list(value) if isinstance(value, tuple) else value
        else:
            notes.unknown(f"The parameter `{each.name}`")
    return body


def own_fields(extra: Extra, notes: Notes, also: Mapping[str, frozenset[str]]) -> JsonObject:
    """Return the fields that only this API knows. `also` names the fields that another API shares with it."""
    shared: JsonObject = {}
    others: dict[str, JsonObject] = {}
    for owner, found in extra.items():
        common = also.get(owner, frozenset())
        shared |= {name: value for name, value in found.items() if name in common}
        others[owner] = {name: value for name, value in found.items() if name not in common}
    return {**shared, **notes.own(others)}


def flattened(body: Mapping[str, Any], field: str, *names: str) -> JsonObject:
    """Return the body with some fields of an object in it moved out, as `field.name`."""
    inner = body.get(field)
    if not isinstance(inner, dict):
        return dict(body)
    remaining = rest(inner, *names)
    moved = {f"{field}.{name}": inner[name] for name in names if inner.get(name) is not None}
    return {**rest(body, field), **({field: remaining} if remaining else {}), **moved}


def folded(body: JsonObject, field: str, *names: str) -> JsonObject:
    """Undo `flattened`."""
    keys = {f"{field}.{name}": name for name in names}
    moved = {name: body[key] for key, name in keys.items() if key in body}
    if not moved:
        return body
    inner = body.get(field)
    return {**rest(body, *keys), field: {**(inner if isinstance(inner, dict) else {}), **moved}}
