"""Definitions of tools, inferred from the calls that were recorded."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.canonical import FREE_TEXT
from timemachine.llm.pure.requests.neutral import Tool, ToolCall

_TYPES: Final = (
    (bool, "boolean"),
    (str, "string"),
    (int | float, "number"),
    (dict, "object"),
    (list, "array"),
)


def inferred_tools(calls: Iterable[ToolCall]) -> tuple[Tool, ...]:
    """Return a definition of each tool that was called, by name.

    Its schema has the arguments that the calls have, with their types; those that all of its calls have are required. A
    tool that was called with a text instead of arguments takes it as `input`. Descriptions cannot be inferred.
    """
    found: dict[str, list[JsonObject]] = defaultdict(list)
    for call in calls:
        found[call.name].append(_arguments(call))
    return tuple(Tool(name=name, schema=_schema(found[name])) for name in sorted(found))


def _arguments(call: ToolCall) -> JsonObject:
    if isinstance(call.arguments, dict):
        return call.arguments
    text = call.raw if call.arguments is None else call.arguments
    return {} if text is None else {FREE_TEXT: text}


def _schema(calls: Sequence[JsonObject]) -> JsonObject:
    names = dict.fromkeys(name for arguments in calls for name in arguments)
    required = [name for name in names if all(name in arguments for arguments in calls)]
    properties = {name: _type_of([each[name] for each in calls if name in each]) for name in names}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _type_of(values: Sequence[Any]) -> JsonObject:
    """Return the schema of an argument with these values: empty, which allows anything, unless all have one type."""
    for kind, name in _TYPES:
        if all(isinstance(each, kind) and (kind is bool or not isinstance(each, bool)) for each in values):
            items = [each for value in values for each in value] if name == "array" else None
            return (
                {"type": name} if items is None else {"type": name, "items": _type_of(items) if items else {}}
            )
    return {}
