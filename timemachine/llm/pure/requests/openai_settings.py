"""Tools, the choice of tools and the form of the answer, which OpenAI's two APIs write almost alike.

Chat completions nest them (`{"type": "function", "function": {…}}`), the Responses API does not.
https://platform.openai.com/docs/guides/migrate-to-responses
"""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    extra_of,
    is_boolean,
    name_at,
    object_at,
    objects_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.neutral import BuiltInTool, ResponseFormat, Tool, ToolChoice
from timemachine.llm.pure.requests.notes import Notes

SHARED: Final = frozenset(
    {
        "metadata",
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "top_logprobs",
        "user",
    }
)
"""Parameters of OpenAI that chat completions and the Responses API both have, with the same meaning."""
_KINDS: Final = {"text": "text", "json_object": "json", "json_schema": "json_schema"}
_CHOICES: Final = frozenset({"auto", "none", "required"})


def read_tools(body: JsonObject, provider: str, *, nested: bool) -> tuple[Tool | BuiltInTool, ...]:
    """Read the tools. One that is not a function is kept as it is.

    Raises:
        RequestError: A function has no name, or this is not a list of tools.
    """
    return tuple(
        _read_tool(tool, f"tools[{number}]", provider, nested=nested)
        for number, tool in enumerate(objects_at(body, "tools"))
    )


def _read_tool(tool: JsonObject, where: str, provider: str, *, nested: bool) -> Tool | BuiltInTool:
    function = object_at(tool, "function") if nested else tool
    if tool.get("type", "function") != "function" or not _has_known_types(function):
        return BuiltInTool(provider, tool)
    others = rest(function, "name", "description", "parameters", "strict", *(() if nested else ("type",)))
    own = {**rest(tool, "type", "function"), "function": others} if nested else others
    return Tool(
        name=name_at(function, where),
        description=text_at(function, "description"),
        schema=function.get("parameters"),
        strict=function.get("strict"),
        extra=extra_of(provider, own if others or not nested else rest(own, "function")),
    )


def _has_known_types(function: JsonObject) -> bool:
    strict, schema, described = (function.get(name) for name in ("strict", "parameters", "description"))
    return (
        (strict is None or is_boolean(strict))
        and (schema is None or isinstance(schema, dict))
        and (described is None or isinstance(described, str))
    )


def write_tools(tools: Sequence[Tool | BuiltInTool], notes: Notes, *, nested: bool) -> JsonObject:
    """Write the tools."""
    written = []
    for tool in tools:
        if isinstance(tool, Tool):
            written.append(_write_tool(tool, notes, nested=nested))
        elif tool.provider == notes.provider:
            written.append(tool.value)
        else:
            notes.foreign(f"The tool `{built_in_name(tool)}`", tool.provider)
    return {"tools": written} if written else {}


def built_in_name(tool: BuiltInTool) -> str:
    """Return what a built-in tool is called: its name, or its type."""
    inner = object_at(tool.value, "custom")
    return text_at(tool.value, "name") or text_at(inner, "name") or str(tool.value.get("type"))


def _write_tool(tool: Tool, notes: Notes, *, nested: bool) -> JsonObject:
    own: dict[str, Any] = notes.own(tool.extra)
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    known: JsonObject = {name: value for name, value in function.items() if value is not None}
    if tool.strict is not None:
        known["strict"] = tool.strict
    if nested:
        return {
            "type": "function",
            **rest(own, "function"),
            "function": {**known, **object_at(own, "function")},
        }
    return {"type": "function", **known, **own}


def read_choice(body: JsonObject, *, nested: bool) -> tuple[ToolChoice | None, bool]:
    """Read the choice of tools. The second value is whether it has a form of its own and has to be kept as it is."""
    choice = body.get("tool_choice")
    if choice is None:
        return None, False
    if isinstance(choice, str) and choice in _CHOICES:
        return ToolChoice(kind=choice), False  # type: ignore[arg-type]
    named = object_at(body, "tool_choice")
    place = object_at(named, "function") if nested else named
    name = text_at(place, "name")
    if named.get("type") != "function" or not name:
        return None, True
    return ToolChoice(kind="tool", name=name), False


def write_choice(choice: ToolChoice | None, *, nested: bool) -> JsonObject:
    """Write the choice of tools."""
    if choice is None:
        return {}
    if choice.kind != "tool":
        return {"tool_choice": choice.kind}
    name = {"name": choice.name}
    return {"tool_choice": {"type": "function", **({"function": name} if nested else name)}}


def read_format(value: Any, nested: str, provider: str) -> tuple[ResponseFormat | None, bool]:
    """Read the form of the answer. `nested` is the field with the schema's name and rules, empty if they are in the form itself. The
    second value is whether it has a form of its own and has to be kept as it is.
    """
    form: JsonObject = value if isinstance(value, dict) else {}
    kind = _KINDS.get(str(form.get("type")))
    if kind is None:
        return None, value is not None
    if kind != "json_schema":
        plain = set(form) == {"type"}
        return (ResponseFormat(kind=kind) if plain else None), not plain  # type: ignore[arg-type]
    place = object_at(form, nested) if nested else form
    if (nested and rest(form, "type", nested)) or not _is_schema(place):
        return None, True
    return ResponseFormat(
        kind="json_schema",
        name=place["name"],
        description=text_at(place, "description"),
        schema=place.get("schema"),
        strict=place.get("strict"),
        extra=extra_of(provider, rest(place, "type", "name", "description", "schema", "strict")),
    ), False


def _is_schema(place: JsonObject) -> bool:
    strict = place.get("strict")
    described = isinstance(place.get("name"), str) and isinstance(place.get("description"), str | None)
    return (
        described and isinstance(place.get("schema"), dict | None) and (strict is None or is_boolean(strict))
    )


def write_format(form: ResponseFormat | None, notes: Notes, field: str, nested: str) -> JsonObject:
    """Write the form of the answer into a field. A schema without a name gets one, because the API requires it."""
    if form is None:
        return {}
    if form.kind != "json_schema":
        return {field: {"type": "json_object" if form.kind == "json" else form.kind}}
    stated = {"description": form.description, "schema": form.schema, "strict": form.strict}
    place = {
        "name": "answer" if form.name is None else form.name,
        **{name: value for name, value in stated.items() if value is not None},
        **notes.own(form.extra),
    }
    return {field: {"type": "json_schema", **({nested: place} if nested else place)}}
