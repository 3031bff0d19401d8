"""Messages as tools record them, in whatever form: recognised, and read into the neutral form.

Chat completions, the Responses API, Anthropic's Messages, OpenTelemetry's GenAI conventions, OpenInference, LangChain,
Gemini, Vercel's AI SDK, and plain text. `recorded_forms` reads those that no API of ours has.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_messages, openai_chat
from timemachine.llm.pure.requests.json_values import RequestError, checked, object_at, text_at
from timemachine.llm.pure.requests.neutral import (
    Message,
    Part,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.recorded_forms import (
    is_ai_sdk,
    is_gemini,
    is_langchain,
    is_openinference,
    is_otel,
    read_ai_sdk,
    read_gemini,
    read_langchain,
    read_openinference,
    read_otel,
)
from timemachine.llm.pure.requests.responses_items import read_items

_LISTS: Final = ("messages", "input", "contents", "prompt", "prompts")
"""Fields of a recorded input that hold its messages."""
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_ANTHROPIC_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})
_ITEMS: Final = frozenset(
    {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"}
    | {"message"}
)

Reader = Callable[[list[JsonObject]], list[Message]]


def read_messages(value: object) -> tuple[Message, ...] | None:
    """Return the messages in a recorded input of a model call, None if they are in no known form.

    The input is a list of messages, an object that has one (the body of a request), one message, or a text: JSON of
    these, or a prompt. Calls and results without an id get one, in their order.
    """
    try:
        checked(value)
        messages = _read(value)
    except RequestError:
        return None
    return None if messages is None else tuple(_with_ids(messages))


def _read(value: object) -> list[Message] | None:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, dict):
        return _of_object(value)
    return _of_list(value) if isinstance(value, list) else None


def _of_text(text: str) -> list[Message]:
    if text.lstrip()[:1] in ("[", "{"):
        try:
            parsed = json.loads(text)
            checked(parsed)
            messages = _read(parsed)
        except (ValueError, RecursionError, RequestError):
            messages = None
        if messages:
            return messages
    return [Message(role="user", parts=(Text(text),))] if text else []


def _of_object(value: JsonObject) -> list[Message] | None:
    if "role" in value or is_langchain(value) or is_openinference(value):
        return _of_list([value])
    name = next((each for each in _LISTS if value.get(each) is not None), None)
    if name is None:
        return None
    messages = _read(value[name])
    if messages is None:
        return None
    return [*_system(value), *messages]


def _system(value: JsonObject) -> list[Message]:
    prompt = next((value[name] for name in _SYSTEM if value.get(name)), None)
    if prompt is None:
        return []
    if isinstance(prompt, dict):
        read = read_gemini([{**prompt, "role": "user"}])
        return [replace(message, role="system") for message in read]
    messages = anthropic_messages.read_messages([{"role": "system", "content": prompt}])
    return [message for message in messages if message.parts]


def _of_list(value: Sequence[Any]) -> list[Message] | None:
    if len(value) == 1 and isinstance(value[0], list):
        return _of_list(value[0])
    if value and all(isinstance(each, str) for each in value):
        return [Message(role="user", parts=(Text(each),)) for each in value]
    if not all(isinstance(each, dict) for each in value):
        return None
    found = list(value)
    for known, read in _FORMS:
        if any(known(each) for each in found):
            return read(found)
    return []


def _has_blocks(message: JsonObject) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return "role" in message and any(
        isinstance(block, dict) and (text_at(block, "type") in _ANTHROPIC_BLOCKS or "source" in block)
        for block in blocks
    )


def _read_anthropic(messages: list[JsonObject]) -> list[Message]:
    return list(anthropic_messages.read_messages(messages))


def _read_chat(messages: list[JsonObject]) -> list[Message]:
    """Read messages of chat completions. Recorders add fields of their own to messages; these are left out."""
    read = openai_chat.read_messages([_as_chat(message) for message in messages])
    return [replace(message, extra={}, parts=tuple(map(_without_extra, message.parts))) for message in read]


def _without_extra(part: Part) -> Part:
    return replace(part, extra={}) if isinstance(part, ToolResult) else part


def _as_chat(message: JsonObject) -> JsonObject:
    """Return a message with its calls as the API writes them. Some recorders write the function as a name."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_as_call(call) for call in calls]}


def _as_call(call: Any) -> Any:
    if not isinstance(call, dict) or isinstance(call.get("function"), dict) or "custom" in call:
        return call
    name = call.get("function") or call.get("name") or call.get("toolName")
    arguments = next((call[each] for each in ("arguments", "args", "input") if each in call), None)
    identifier = text_at(call, "id") or text_at(call, "toolCallId")
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


_FORMS: Final[tuple[tuple[Callable[[JsonObject], bool], Reader], ...]] = (
    (is_langchain, read_langchain),
    (is_openinference, lambda found: _read_chat(read_openinference(found))),
    (is_otel, read_otel),
    (is_gemini, read_gemini),
    (is_ai_sdk, read_ai_sdk),
    (_has_blocks, _read_anthropic),
    (
        lambda each: text_at(each, "type") in _ITEMS and "tool_calls" not in each,
        lambda found: list(read_items(found)),
    ),
    (lambda each: True, _read_chat),  # noqa: ARG005
)


def _with_ids(messages: list[Message]) -> list[Message]:
    """Give an id to each call without one, and to each result without one that of the oldest call of its tool that has
    no result yet.
    """
    if all(part.id for message in messages for part in message.calls) and all(
        part.call_id for message in messages for part in message.results
    ):
        return messages
    ids = _Ids({call.id for message in messages for call in message.calls if call.id})
    return [replace(message, parts=tuple(map(ids.identified, message.parts))) for message in messages]


class _Ids:
    """Ids of calls, in the order of the messages."""

    def __init__(self, used: set[str]) -> None:
        self._used = used
        self._open: list[tuple[str, str]] = []

    def identified(self, part: Part) -> Part:
        if isinstance(part, ToolCall):
            identifier = part.id or self._new()
            self._open.append((identifier, part.name))
            return replace(part, id=identifier)
        if isinstance(part, ToolResult):
            return replace(part, call_id=self._answered(part))
        return part

    def _new(self) -> str:
        number = len(self._used) + 1
        while f"call_{number}" in self._used:
            number += 1
        self._used.add(f"call_{number}")
        return f"call_{number}"

    def _answered(self, result: ToolResult) -> str:
        known = [identifier for identifier, name in self._open if result.name in (None, name)]
        identifier = result.call_id or next(iter(known), "")
        self._open = [each for each in self._open if each[0] != identifier]
        return identifier


def read_tools(value: object) -> tuple[Tool, ...] | None:
    """Return the tools in recorded definitions, None if they are in no known form.

    Each is an object, or its JSON, as chat completions, the Responses API, Anthropic, LangChain, Gemini or OpenTelemetry
    write it.
    """
    found = value if isinstance(value, list) else [value]
    tools: list[Tool] = []
    for each in found:
        definition = _parsed(each)
        declared = definition.get("functionDeclarations")
        for one in declared if isinstance(declared, list) else [definition]:
            tool = _tool(one) if isinstance(one, dict) else None
            if tool is None:
                return None
            tools.append(tool)
    return tuple(tools)


def _parsed(value: Any) -> JsonObject:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    found: JsonObject = value if isinstance(value, dict) else {}
    inner = found.get("tool.json_schema", object_at(found, "tool").get("json_schema"))
    return found if inner is None else _parsed(inner)


def _tool(definition: JsonObject) -> Tool | None:
    function = object_at(definition, "function") or definition
    name = text_at(function, "name")
    if not name:
        return None
    schemas = (
        function.get(each) for each in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    )
    schema = next((each for each in schemas if isinstance(each, dict)), None)
    strict = function.get("strict")
    return Tool(
        name=name,
        description=text_at(function, "description"),
        schema=object_at(schema, "jsonSchema") or schema if schema else None,
        strict=strict if isinstance(strict, bool) else None,
    )
