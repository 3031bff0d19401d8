"""A request to a language model in a form of its own, which no API dictates.

What only one API knows is kept under its name (`extra`, `Other`, `BuiltInTool`), so that a request goes back to the API
it came from unchanged. A converter for another API leaves it out and lists it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject

OPENAI: Final = "openai"
"""OpenAI's chat completions. Other servers with the same API keep their fields under their own names."""
RESPONSES: Final = "openai_responses"
"""OpenAI's Responses API."""
ANTHROPIC: Final = "anthropic"
"""Anthropic's Messages API."""

Role = Literal["system", "developer", "user", "assistant", "tool"]
Extra = Mapping[str, JsonObject]
"""Fields that only one API knows, by the name of the API."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text."""

    text: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, a document or a recording: at an address, as base64, as plain text, or uploaded before.

    `file_id` is known only to the vendor in `uploaded_to` (`openai` or `anthropic`).
    """

    kind: Literal["image", "document", "audio"]
    url: str | None = None
    data: str | None = None
    text: str | None = None
    media_type: str | None = None
    name: str | None = None
    file_id: str | None = None
    uploaded_to: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the model made.

    `raw` is the text of the arguments if it is not JSON; `arguments` is None then. The input of a `free_text` tool is
    never JSON. `id` is empty if none was recorded.
    """

    id: str
    name: str
    arguments: Any = None
    raw: str | None = None
    free_text: bool = False
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """What the model thought before it answered. Only the API in `provider` accepts it back.

    `signature` and `data` are opaque to everyone but the vendor. `data` is thinking that the vendor encrypted.
    """

    provider: str
    text: str = ""
    signature: str | None = None
    data: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The words with which the model refused."""

    text: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Other:
    """A part that only one API knows, as it was recorded."""

    provider: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a call. `name` is the tool's name, if it was recorded with the result."""

    call_id: str
    parts: "tuple[Text | Media | Other, ...]" = ()
    is_error: bool = False
    name: str | None = None
    free_text: bool = False
    extra: Extra = field(default_factory=dict)


Part = Text | Media | ToolCall | ToolResult | Thinking | Refusal | Other


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. Results of tools have messages of their own, with the role `tool`."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text that was written in the message, without thinking, refusals, calls and results."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results in the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the caller that the model may call. `schema` is the JSON schema of its arguments."""

    name: str
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    """A tool that the API defines (web search, a shell, a tool with free text as input), as it was recorded."""

    provider: str
    value: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """Whether the model may call tools (`auto`), must not (`none`), must (`required`), or must call one (`tool`)."""

    kind: Literal["auto", "none", "required", "tool"]
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """The form of the answer: text, any JSON object, or JSON that fits a schema."""

    kind: Literal["text", "json", "json_schema"]
    name: str | None = None
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters with the same meaning in several APIs. None if not stated. The others are in `extra`."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    effort: str | None = None
    verbosity: str | None = None
    parallel_tool_calls: bool | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request. How the answer is delivered (streamed or not) is not part of it."""

    model: str | None = None
    system: tuple[Text | Other, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool | BuiltInTool, ...] = ()
    tool_choice: ToolChoice | None = None
    response_format: ResponseFormat | None = None
    parameters: Parameters = field(default_factory=Parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The body of a request for one API, and a sentence for each kind of thing that the body does not have, or has
    elsewhere."""

    body: JsonObject
    dropped: tuple[str, ...] = ()
