"""Tools, the choice of tools and the form of the answer, as Anthropic's Messages API has them.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    extra_of,
    is_boolean,
    name_at,
    objects_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.neutral import ANTHROPIC, BuiltInTool, ResponseFormat, Tool, ToolChoice
from timemachine.llm.pure.requests.notes import Notes
from timemachine.llm.pure.requests.openai_settings import built_in_name

_NO_ARGUMENTS: Final = {"type": "object", "properties": {}}
_SCHEMA: Final = "input_schema"
_ONE_AT_A_TIME: Final = "disable_parallel_tool_use"
_KINDS: Final = {"auto": "auto", "any": "required", "tool": "tool", "none": "none"}


def read_tools(body: JsonObject) -> tuple[Tool | BuiltInTool, ...]:
    """Read the tools. Those of Anthropic, which have a type, are kept as they are.

    Raises:
        RequestError: A tool of the caller has no name, or this is not a list of tools.
    """
    return tuple(
        _read_tool(tool, f"tools[{number}]") for number, tool in enumerate(objects_at(body, "tools"))
    )


def _read_tool(tool: JsonObject, where: str) -> Tool | BuiltInTool:
    schema, strict, described = (tool.get(name) for name in (_SCHEMA, "strict", "description"))
    known = isinstance(schema, dict) and isinstance(described, str | None)
    if tool.get("type") not in (None, "custom") or not (known and schema):
        return BuiltInTool(ANTHROPIC, tool)
    if strict is not None and not is_boolean(strict):
        return BuiltInTool(ANTHROPIC, tool)
    return Tool(
        name=name_at(tool, where),
        description=described,
        schema=schema,
        strict=strict,
        extra=extra_of(ANTHROPIC, rest(tool, "type", "name", "description", _SCHEMA, "strict")),
    )


def write_tools(tools: Sequence[Tool | BuiltInTool], notes: Notes) -> JsonObject:
    """Write the tools. One without arguments gets an empty schema, because the API requires one."""
    written = []
    for tool in tools:
        if isinstance(tool, Tool):
            known = {"name": tool.name, "description": tool.description, "strict": tool.strict}
            stated = {name: value for name, value in known.items() if value is not None}
            written.append({**stated, _SCHEMA: tool.schema or _NO_ARGUMENTS, **notes.own(tool.extra)})
        elif tool.provider == ANTHROPIC:
            written.append(tool.value)
        else:
            notes.foreign(f"The tool `{built_in_name(tool)}`", tool.provider)
    return {"tools": written} if written else {}


def read_choice(value: Any) -> tuple[ToolChoice | None, bool | None, bool]:
    """Read the choice of tools, and whether calls may be parallel. The third value is whether it has a form of its own
    and has to be kept as it is.
    """
    if value is None:
        return None, None, False
    choice: JsonObject = value if isinstance(value, dict) else {}
    kind, name, single = (
        _KINDS.get(str(choice.get("type"))),
        text_at(choice, "name"),
        choice.get(_ONE_AT_A_TIME),
    )
    known = {"type", *(("name",) if kind == "tool" else ()), *(() if kind == "none" else (_ONE_AT_A_TIME,))}
    if kind is None or rest(choice, *known) or (kind == "tool") != bool(name):
        return None, None, True
    if single is not None and not is_boolean(single):
        return None, None, True
    return ToolChoice(kind=kind, name=name), None if single is None else not single, False  # type: ignore[arg-type]


def write_choice(choice: ToolChoice | None, parallel: bool | None, notes: Notes) -> JsonObject:
    """Write the choice of tools, and whether calls may be parallel."""
    if choice is None and parallel is None:
        return {}
    chosen = choice or ToolChoice(kind="auto")
    kinds = {ours: kind for kind, ours in _KINDS.items()}
    written: JsonObject = {"type": kinds[chosen.kind]}
    if chosen.kind == "tool":
        written["name"] = chosen.name
    if parallel is not None and chosen.kind == "none":
        notes.unknown("The parameter `parallel_tool_calls`")
    elif parallel is not None:
        written[_ONE_AT_A_TIME] = not parallel
    return {"tool_choice": written}


def read_format(value: Any) -> tuple[ResponseFormat | None, bool]:
    """Read the form of the answer. The second value is whether it has to be kept as it is."""
    if value is None:
        return None, False
    form: JsonObject = value if isinstance(value, dict) else {}
    schema = form.get("schema")
    if form.get("type") != "json_schema" or not isinstance(schema, dict) or rest(form, "type", "schema"):
        return None, True
    return ResponseFormat(kind="json_schema", schema=schema), False


def write_format(form: ResponseFormat | None, notes: Notes) -> JsonObject:
    """Write the form of the answer as a field of `output_config`."""
    if form is None or form.kind == "text":
        return {}
    if form.kind == "json":
        notes.unknown("The requirement that the answer be a JSON object without a schema")
        return {}
    for name in ("name", "description", "strict"):
        if getattr(form, name) is not None:
            notes.unknown(f"The field `{name}` of the answer schema")
    notes.own(form.extra)
    return {"output_config.format": {"type": "json_schema", "schema": form.schema or {}}}
