"""The request of a model call as its step shows it: where it is from, then system prompt, tools and messages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
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
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.queries import latest_of_request
from timemachine.recording.sessions.models import Action
from timemachine.web.errors import page_message
from timemachine.web.formatting import Excerpt, excerpt
from timemachine.web.payloads.pure.pieces import Plain
from timemachine.web.payloads.pure.shapes import Reading, reading

SHOWN: Final = 50
"""How many of the latest messages are shown at first."""
MOST: Final = 500
"""How many of the latest messages are shown on request; the API returns all."""
FIRST_CHARACTERS: Final = 2_000
"""How many characters of each part and each tool are shown at first."""
_JSON: Final = "application/json"
_TEXT: Final = "text/plain"
_KINDS: Final = {Text: "text", ToolCall: "calls", Thinking: "thinking", Refusal: "refuses"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part of a message: what it is, the tool it is about, its beginning, and what this beginning is."""

    kind: str
    name: str | None
    body: Excerpt
    read: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """A message by its place in the request, from 1, with about how many tokens it has. The place is None if not all
    messages before it were read."""

    number: int | None
    role: str
    tokens: int
    parts: Sequence[ShownPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTool:
    """A tool that the model could call, with its definition as JSON."""

    name: str
    definition: Excerpt
    read: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRequest:
    """A request, the latest of its messages, and about how many tokens its parts have. `refused` says why it cannot be
    shown; it has nothing else then. In a long conversation only the latest messages are read and counted
    (`frozen.since`)."""

    frozen: FrozenRequest | None = None
    refused: str | None = None
    system: Excerpt | None = None
    system_read: Reading | None = None
    system_tokens: int = 0
    tools: Sequence[ShownTool] = ()
    tools_tokens: int = 0
    messages: Sequence[ShownMessage] = ()
    message_count: int = 0
    messages_tokens: int = 0
    parameters: Sequence[tuple[str, Any]] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens the request has."""
        return self.system_tokens + self.tools_tokens + self.messages_tokens

    @property
    def hidden(self) -> int:
        """How many earlier messages are not shown."""
        return self.message_count - len(self.messages)


def shown_request(
    action: Action, first_bytes: int, most: int = SHOWN, characters: int = FIRST_CHARACTERS
) -> ShownRequest:
    """Return the request of a model call with `most` of its latest messages, and so many `characters` of each part."""
    try:
        frozen = latest_of_request(action, most)
    except InvalidInput as why:
        return ShownRequest(refused=page_message(why))
    return shown(frozen, first_bytes, most, characters)


def shown(
    frozen: FrozenRequest, first_bytes: int, most: int = SHOWN, characters: int = FIRST_CHARACTERS
) -> ShownRequest:
    """Return a request in the same way."""
    request = frozen.request
    system = "\n\n".join(_text(part) for part in request.system)
    sizes = [sum(len(_text(part)) for part in message.parts) for message in request.messages]
    first = max(0, len(sizes) - most)
    tools = [(_tool_name(tool), _json(_tool(tool))) for tool in request.tools]
    instructions = excerpt(system, first_bytes) if system else None
    return ShownRequest(
        frozen=frozen,
        system=instructions,
        system_read=None if instructions is None else _reading(instructions, _TEXT, "prose"),
        system_tokens=estimate_tokens(len(system)),
        tools=[_shown_tool(name, excerpt(text, characters)) for name, text in tools],
        tools_tokens=estimate_tokens(sum(len(text) for _, text in tools)),
        messages=[
            _message(number if frozen.since is None else None, message, size, characters)
            for number, (message, size) in enumerate(zip(request.messages, sizes, strict=True), start=1)
            if number > first
        ],
        message_count=len(sizes),
        messages_tokens=estimate_tokens(sum(sizes)),
        parameters=list(_parameters(request)),
    )


def _message(number: int | None, message: Message, size: int, characters: int) -> ShownMessage:
    parts = _parts(message.parts, characters)
    return ShownMessage(number=number, role=message.role, tokens=estimate_tokens(size), parts=parts)


def _shown_tool(name: str, definition: Excerpt) -> ShownTool:
    return ShownTool(name=name, definition=definition, read=Reading(pieces=[Plain(definition.text)]))


def _parts(parts: Sequence[Part], characters: int) -> list[ShownPart]:
    return [
        ShownPart(kind=kind, name=name, body=body, read=_reading(body, *_read_as(part)))
        for part in parts
        for (kind, name), body in [(_kind(part), excerpt(_text(part), characters))]
    ]


def _reading(body: Excerpt, media_type: str, reads: str) -> Reading:
    return reading(media_type, body.text, cut=body.cut, reads=reads)


def _read_as(part: Part) -> tuple[str, str]:
    """Return the media type of the text of a part, and what it is read as."""
    if isinstance(part, Other) or (isinstance(part, ToolCall) and part.raw is None):
        return _JSON, "plain"
    return _TEXT, "prose" if isinstance(part, Text | Thinking | Refusal) else "plain"


def _kind(part: Part) -> tuple[str, str | None]:
    """Return what a part is, and the tool, file or API that it is about."""
    if isinstance(part, Media):
        return part.kind, part.name or part.media_type
    if isinstance(part, ToolResult):
        return "error of" if part.is_error else "result of", part.name or part.call_id
    if isinstance(part, Other):
        return "only for", part.provider
    return _KINDS[type(part)], part.name if isinstance(part, ToolCall) else None


def _text(part: Part) -> str:
    """Return the text of a part; media are described, since their bytes say nothing to a reader."""
    match part:
        case Text() | Refusal():
            return part.text
        case Thinking():
            return part.text or "(encrypted)"
        case ToolCall():
            return _json(part.arguments) if part.raw is None else part.raw
        case ToolResult():
            return "\n".join(_text(each) for each in part.parts)
        case Media():
            return part.text or part.url or part.file_id or f"{len(part.data or ''):,} characters of base64"
    return _json(part.value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _tool_name(tool: Tool | BuiltInTool) -> str:
    return tool.name if isinstance(tool, Tool) else str(tool.value.get("name") or tool.value.get("type"))


def _tool(tool: Tool | BuiltInTool) -> Any:
    if isinstance(tool, BuiltInTool):
        return tool.value
    return {"description": tool.description, "parameters": tool.schema}


def _parameters(request: Request) -> Iterator[tuple[str, Any]]:
    """Yield what was set, by our name for it; what only one API knows by its own name."""
    for each in fields(Parameters):
        value = getattr(request.parameters, each.name)
        if each.name != "extra" and value not in (None, ()):
            yield each.name, ", ".join(value) if isinstance(value, tuple) else value
    for own in request.parameters.extra.values():
        yield from own.items()
    if request.tool_choice is not None:
        yield "tool_choice", request.tool_choice.name or request.tool_choice.kind
    if request.response_format is not None:
        yield "response_format", request.response_format.kind
