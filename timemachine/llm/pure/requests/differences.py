"""How two requests differ, in words, and how the arguments of two calls differ, by JSON pointer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from timemachine.core.pure.numbers import counted
from timemachine.llm.pure.requests.canonical import as_json, form_of, free_text, normal
from timemachine.llm.pure.requests.json_values import checked
from timemachine.llm.pure.requests.neutral import (
    BuiltInTool,
    Media,
    Message,
    Other,
    Parameters,
    Part,
    Refusal,
    Request,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.openai_settings import built_in_name

_PARTS: dict[type[Part], str] = {
    Text: "text",
    Media: "media",
    ToolCall: "call",
    ToolResult: "result",
    Thinking: "thinking",
    Refusal: "refusal",
    Other: "part",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where two JSON values differ. `path` is a JSON pointer (RFC 6901), empty for the whole value.

    `left` is None for what was added, `right` for what was removed.
    """

    path: str
    change: Literal["changed", "added", "removed"]
    left: Any = None
    right: Any = None


def equal_arguments(left: Any, right: Any) -> tuple[Difference, ...]:
    """Compare the arguments of two calls by their structure; empty if they are equal.

    The order of names and the forms of a number do not matter, nor does the form of Unicode. Elements of lists are
    compared one by one. True is not 1. A text and the same text as `input` alone are equal.

    Raises:
        RequestError: A value is nested too deeply, or has a number that JSON does not have.
    """
    checked(left, "The value")
    checked(right, "The value")
    if isinstance(left, str) is not isinstance(right, str):
        left, right = free_text(left), free_text(right)
    return tuple(_differences(normal(left), normal(right), ""))


def equal_calls(left: ToolCall, right: ToolCall) -> bool:
    """Return whether two calls call the same tool with equal arguments.

    Raises:
        RequestError: As `equal_arguments`.
    """
    return left.name == right.name and not call_differences(left, right)


def call_differences(left: ToolCall, right: ToolCall) -> tuple[Difference, ...]:
    """Compare the arguments of two calls. Those that are not JSON are compared as texts.

    Raises:
        RequestError: As `equal_arguments`.
    """
    values = [call.arguments if call.raw is None else call.raw for call in (left, right)]
    return equal_arguments(*values)


def _differences(left: Any, right: Any, path: str) -> Iterator[Difference]:
    if isinstance(left, dict) and isinstance(right, dict):
        yield from _in_objects(left, right, path)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _in_objects(dict(enumerate(left)), dict(enumerate(right)), path)
    elif isinstance(left, bool) is not isinstance(right, bool) or left != right:
        yield Difference(path=path, change="changed", left=left, right=right)


def _in_objects(left: dict[Any, Any], right: dict[Any, Any], path: str) -> Iterator[Difference]:
    for name in {**left, **right}:
        place = f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}"
        if name not in right:
            yield Difference(path=place, change="removed", left=left[name])
        elif name not in left:
            yield Difference(path=place, change="added", right=right[name])
        else:
            yield from _differences(left[name], right[name], place)


def first_difference(left: Request, right: Request) -> str | None:
    """Name the first thing in which two requests differ: `message 3 (user): text differs`. None if they are the same.

    Raises:
        RequestError: A value in them is nested too deeply, or has a number that JSON does not have.
    """
    return next(_request_differences(left, right), None)


def _request_differences(left: Request, right: Request) -> Iterator[str]:
    if left.model != right.model:
        yield f"model: {left.model or 'none'} and {right.model or 'none'}"
    if not _same(left.system, right.system):
        yield "system prompt differs"
    yield from _in_messages(left.messages, right.messages)
    yield from _in_tools(left.tools, right.tools)
    for name in ("tool_choice", "response_format"):
        if not _same(getattr(left, name), getattr(right, name)):
            yield f"{name.replace('_', ' ')} differs"
    yield from _in_parameters(left.parameters, right.parameters)


def _in_messages(left: Sequence[Message], right: Sequence[Message]) -> Iterator[str]:
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        if not _same(one, other):
            yield f"message {number} ({one.role}): {_message_difference(one, other)}"
    if len(left) != len(right):
        yield f"{counted(len(left), 'message')} and {len(right):,}"


def _message_difference(left: Message, right: Message) -> str:
    if left.role != right.role:
        return f"the other is a message of the role {right.role}"
    for one, other in zip(left.parts, right.parts, strict=False):
        if not _same(one, other):
            return _part_difference(one, other)
    if len(left.parts) != len(right.parts):
        return f"{counted(len(left.parts), 'part')} and {len(right.parts):,}"
    return "name differs" if left.name != right.name else "a field that only one API supports differs"


def _part_difference(left: Part, right: Part) -> str:
    kind = _PARTS[type(left)]
    if type(left) is not type(right):
        return f"{kind} and {_PARTS[type(right)]}"
    if isinstance(left, ToolCall) and isinstance(right, ToolCall):
        return _call_difference(left, right)
    return f"{kind} differs"


def _call_difference(left: ToolCall, right: ToolCall) -> str:
    if left.name != right.name:
        return f"calls of {left.name} and of {right.name}"
    differences = call_differences(left, right)
    if differences:
        return f"arguments of {left.name} differ at {differences[0].path or 'the top'}"
    return f"id of the call of {left.name} differs" if left.id != right.id else f"call of {left.name} differs"


def _in_tools(left: Sequence[Tool | BuiltInTool], right: Sequence[Tool | BuiltInTool]) -> Iterator[str]:
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        if not _same(one, other):
            names = [tool.name if isinstance(tool, Tool) else built_in_name(tool) for tool in (one, other)]
            same = names[0] == names[1]
            yield f"tool {number}: " + (f"{names[0]} differs" if same else f"{names[0]} and {names[1]}")
    if len(left) != len(right):
        yield f"{counted(len(left), 'tool')} and {len(right):,}"


def _in_parameters(left: Parameters, right: Parameters) -> Iterator[str]:
    for each in fields(Parameters):
        one, other = getattr(left, each.name), getattr(right, each.name)
        if each.name == "extra":
            yield from _in_extra(one, other)
        elif not _same(one, other):
            yield f"parameter {each.name} differs"


def _in_extra(left: dict[str, Any], right: dict[str, Any]) -> Iterator[str]:
    for owner in {**left, **right}:
        one, other = (normal(extra.get(owner, {}), unicode=False) for extra in (left, right))
        for difference in _differences(one, other, ""):
            yield f"parameter {difference.path.split('/')[1]} differs"


def _same(left: Any, right: Any) -> bool:
    return as_json(form_of(left)) == as_json(form_of(right))
