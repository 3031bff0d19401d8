"""Forms of recorded messages that are not those of an API to which we write.

OpenTelemetry: https://github.com/open-telemetry/semantic-conventions/blob/main/docs/gen-ai/gen-ai-input-messages.json
OpenInference: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
LangChain: https://reference.langchain.com/python/langchain_core/messages/
Gemini: https://ai.google.dev/api/caching#Content
Vercel's AI SDK: https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message
"""

from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.anthropic_blocks import read_blocks
from timemachine.llm.pure.requests.chat_parts import read_content
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    arguments_of,
    as_text,
    name_at,
    object_at,
    objects_at,
    text_at,
)
from timemachine.llm.pure.requests.media import from_url
from timemachine.llm.pure.requests.neutral import (
    OPENAI,
    Media,
    Message,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

RECORDING: Final = "the recording"
"""The owner of what only the tool that recorded it knows. It is never sent."""
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_LANGCHAIN: Final = {
    "SystemMessage": "system",
    "HumanMessage": "human",
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
}
_OTEL_FILES: Final = ("blob", "uri", "file", "file_data")
_GEMINI_PARTS: Final = frozenset(
    {"text", "functionCall", "function_call", "functionResponse", "function_response"}
    | {"inlineData", "inline_data", "fileData", "file_data", "executableCode", "codeExecutionResult"}
)
_AI_SDK: Final = frozenset({"tool-call", "tool-result"})


def _role(found: JsonObject, name: str = "role") -> Role:
    role = _ROLES.get(str(found.get(name)))
    if role is None:
        raise RequestError(f"`{found.get(name)}` is not a role.")
    return role


def _kind(media_type: str | None) -> Literal["image", "audio", "document"]:
    first = (media_type or "").partition("/")[0]
    return "image" if first == "image" else "audio" if first == "audio" else "document"


def _as_result(value: Any) -> tuple[Text, ...]:
    """Return what a tool returned as text, JSON for what is not text."""
    text = "" if value is None else value if isinstance(value, str) else as_text(value)
    return (Text(text),) if text else ()


def _messages(role: Role, parts: list[Part], name: str | None = None) -> list[Message]:
    """Return the messages of a turn: each result in one of its own, before the rest."""
    results = [Message(role="tool", parts=(part,)) for part in parts if isinstance(part, ToolResult)]
    others = tuple(part for part in parts if not isinstance(part, ToolResult))
    if (results or role == "tool") and not others:
        return results
    return [*results, Message(role="user" if role == "tool" else role, parts=others, name=name)]


# OpenTelemetry


def is_otel(message: JsonObject) -> bool:
    """Return whether this is a message of OpenTelemetry's GenAI conventions."""
    parts = message.get("parts")
    return isinstance(parts, list) and any(isinstance(part, dict) and "type" in part for part in parts)


def read_otel(messages: list[JsonObject]) -> list[Message]:
    """Read messages of OpenTelemetry's GenAI conventions.

    Raises:
        RequestError: They are not.
    """
    return [
        each
        for message in messages
        for each in _messages(
            _role(message),
            [_otel_part(part) for part in objects_at(message, "parts")],
            text_at(message, "name"),
        )
    ]


def _otel_part(part: JsonObject) -> Part:
    kind, content = part.get("type"), text_at(part, "content")
    if kind == "text" and content is not None:
        return Text(content)
    if kind == "reasoning" and content is not None:
        return Thinking(provider=RECORDING, text=content)
    if kind == "tool_call":
        arguments, raw = arguments_of(part.get("arguments"))
        return ToolCall(
            id=text_at(part, "id") or "", name=name_at(part, "tool_call"), arguments=arguments, raw=raw
        )
    if kind == "tool_call_response":
        value = part.get("response", part.get("result"))
        return ToolResult(call_id=text_at(part, "id") or "", parts=_as_result(value))
    return _otel_file(part) if kind in _OTEL_FILES else Other(RECORDING, part)


def _otel_file(part: JsonObject) -> Media:
    media_type = text_at(part, "mime_type")
    return Media(
        kind=_kind(media_type or text_at(part, "modality")),
        media_type=media_type,
        data=text_at(part, "content"),
        url=text_at(part, "uri"),
        file_id=text_at(part, "file_id"),
    )


# OpenInference


def is_openinference(message: JsonObject) -> bool:
    """Return whether this is a message of OpenInference."""
    inner = object_at(message, "message")
    calls = message.get("tool_calls")
    return (
        "message.role" in message
        or "role" in inner
        or ("role" in message and isinstance(message.get("contents"), list))
        or (isinstance(calls, list) and any(_is_wrapped_call(call) for call in calls))
    )


def _is_wrapped_call(call: Any) -> bool:
    return isinstance(call, dict) and any(name.partition(".")[0] == "tool_call" for name in call)


def read_openinference(messages: list[JsonObject]) -> list[JsonObject]:
    """Return messages of OpenInference as messages of chat completions."""
    return [_as_chat(_unwrapped(message, "message")) for message in messages]


def _unwrapped(found: JsonObject, name: str) -> JsonObject:
    """Remove the wrapper `name` and the prefix `name.` of fields."""
    inner = object_at(found, name) or {
        field.removeprefix(f"{name}."): value for field, value in found.items() if field != name
    }
    nested: JsonObject = {}
    for field, value in inner.items():
        first, dot, second = field.partition(".")
        if dot:
            nested[first] = {**object_at(nested, first), second: value}
        else:
            nested[field] = value
    return nested


def _as_chat(message: JsonObject) -> JsonObject:
    calls = [_unwrapped(call, "tool_call") for call in objects_at(message, "tool_calls")]
    contents = [
        _as_chat_part(_unwrapped(part, "message_content")) for part in objects_at(message, "contents")
    ]
    chat: JsonObject = {"role": _ROLES.get(str(message.get("role")), message.get("role"))}
    chat["content"] = contents or message.get("content")
    chat |= {name: message[name] for name in ("name", "tool_call_id") if message.get(name) is not None}
    return {**chat, "tool_calls": calls} if calls and chat["role"] == "assistant" else chat


def _as_chat_part(part: JsonObject) -> JsonObject:
    image = object_at(part, "image")
    url = text_at(object_at(image, "image"), "url") or text_at(image, "url") or text_at(image, "image.url")
    if part.get("type") == "image" and url:
        return {"type": "image_url", "image_url": {"url": url}}
    return part


# LangChain


def is_langchain(message: JsonObject) -> bool:
    """Return whether this is a message of LangChain, as its constructor or by its type."""
    plain = "content" in message or "content" in object_at(message, "data")
    kinds = {*_LANGCHAIN.values()} - {"chat"}
    return message.get("lc") is not None or (
        text_at(message, "type") in kinds and "role" not in message and plain
    )


def read_langchain(messages: list[JsonObject]) -> list[Message]:
    """Read messages of LangChain.

    Raises:
        RequestError: They are not.
    """
    return [each for message in messages for each in _langchain_message(message)]


def _langchain_message(message: JsonObject) -> list[Message]:
    kind, fields = message.get("type"), object_at(message, "data") or message
    if message.get("lc") is not None:
        path = message.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        kind, fields = _LANGCHAIN.get(name.removesuffix("Chunk"), name), object_at(message, "kwargs")
    role = _role(fields) if kind in ("chat", None) else _role({"role": kind})
    parts = _mixed_parts(fields.get("content"))
    if role == "tool":
        inner = tuple(part for part in parts if isinstance(part, Text | Media | Other))
        result = ToolResult(
            call_id=text_at(fields, "tool_call_id") or "",
            parts=inner,
            is_error=fields.get("status") == "error",
            name=text_at(fields, "name"),
        )
        return [Message(role="tool", parts=(result,))]
    calls = _langchain_calls(fields)
    kept = [part for part in parts if not (calls and isinstance(part, ToolCall))]
    return _messages(role, [*kept, *calls], text_at(fields, "name") if role == "user" else None)


def _langchain_calls(fields: JsonObject) -> list[ToolCall]:
    calls = [*objects_at(fields, "tool_calls"), *objects_at(fields, "invalid_tool_calls")]
    calls = calls or objects_at(object_at(fields, "additional_kwargs"), "tool_calls")
    found = []
    for call in calls:
        function = object_at(call, "function") or call
        arguments, raw = arguments_of(function.get("args", function.get("arguments")))
        name = name_at(function, "tool_calls")
        found.append(ToolCall(id=text_at(call, "id") or "", name=name, arguments=arguments, raw=raw))
    return found


def _mixed_parts(content: Any) -> list[Part]:
    """Read content with parts of chat completions, blocks of Anthropic, or both."""
    parts: list[Part] = []
    for each in content if isinstance(content, list) else [content]:
        if isinstance(each, dict):
            read = read_blocks([each], "content")
            known = [part for part in read if not isinstance(part, Other)]
            parts += known or read_content([each], "content", OPENAI)
        else:
            parts += read_content(each, "content", OPENAI)
    return parts


# Gemini


def is_gemini(message: JsonObject) -> bool:
    """Return whether this is a content of Gemini."""
    parts = message.get("parts")
    return isinstance(parts, list) and any(
        isinstance(part, dict) and _GEMINI_PARTS & {*part} for part in parts
    )


def read_gemini(messages: list[JsonObject]) -> list[Message]:
    """Read contents of Gemini. A content without a role is the user's.

    Raises:
        RequestError: They are not.
    """
    return [
        each
        for message in messages
        for each in _messages(
            _role({"role": message.get("role") or "user"}),
            [_gemini_part(part) for part in objects_at(message, "parts")],
        )
    ]


def _either(part: JsonObject, *names: str) -> JsonObject:
    return next((found for name in names if (found := object_at(part, name))), {})


def _gemini_part(part: JsonObject) -> Part:
    text = text_at(part, "text")
    if text is not None:
        return Thinking(provider=RECORDING, text=text) if part.get("thought") is True else Text(text)
    if call := _either(part, "functionCall", "function_call"):
        arguments, raw = arguments_of(call.get("args"))
        name = name_at(call, "functionCall")
        return ToolCall(id=text_at(call, "id") or "", name=name, arguments=arguments, raw=raw)
    if result := _either(part, "functionResponse", "function_response"):
        parts = _as_result(result.get("response"))
        return ToolResult(call_id=text_at(result, "id") or "", name=text_at(result, "name"), parts=parts)
    file = _either(part, "inlineData", "inline_data", "fileData", "file_data")
    return _gemini_file(file) if file else Other(RECORDING, part)


def _gemini_file(file: JsonObject) -> Media:
    media_type = text_at(file, "mimeType") or text_at(file, "mime_type")
    url = text_at(file, "fileUri") or text_at(file, "file_uri")
    return Media(kind=_kind(media_type), media_type=media_type, data=text_at(file, "data"), url=url)


# Vercel's AI SDK


def is_ai_sdk(message: JsonObject) -> bool:
    """Return whether this is a message of Vercel's AI SDK that has a call or a result."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return "role" in message and any(
        isinstance(part, dict) and text_at(part, "type") in _AI_SDK for part in parts
    )


def read_ai_sdk(messages: list[JsonObject]) -> list[Message]:
    """Read messages of Vercel's AI SDK.

    Raises:
        RequestError: They are not.
    """
    found = []
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        found += _messages(
            _role(message), [_ai_sdk_part(part) for part in objects_at({"parts": parts}, "parts")]
        )
    return found


def _ai_sdk_part(part: JsonObject) -> Part:
    kind, text = part.get("type"), text_at(part, "text")
    if text is not None:
        return Thinking(provider=RECORDING, text=text) if kind == "reasoning" else Text(text)
    identifier, name = text_at(part, "toolCallId") or "", text_at(part, "toolName")
    if kind == "tool-call" and name:
        arguments, raw = arguments_of(part.get("args", part.get("input")))
        return ToolCall(id=identifier, name=name, arguments=arguments, raw=raw)
    if kind == "tool-result":
        output = part.get("result", part.get("output"))
        typed = object_at(part, "output")
        parts = _as_result(typed.get("value", output))
        failed = str(typed.get("type")).startswith("error") or part.get("isError") is True
        return ToolResult(call_id=identifier, name=name, parts=parts, is_error=failed)
    return _ai_sdk_file(part) or Other(RECORDING, part)


def _ai_sdk_file(part: JsonObject) -> Media | None:
    place = text_at(part, "image") or text_at(part, "data")
    if place is None:
        return None
    image = part.get("type") == "image"
    media_type = text_at(part, "mediaType") or text_at(part, "mimeType") or ("image/png" if image else None)
    known: dict[str, Any] = {"url": place} if place.startswith("http") else {"data": place}
    known |= {"media_type": media_type, **({} if "url" in known else _from_data(place))}
    return Media(kind="image" if image else _kind(media_type), name=text_at(part, "filename"), **known)


def _from_data(place: str) -> dict[str, Any]:
    """Return the fields of `Media` for a data URL, nothing for other data."""
    found = from_url(place)
    return found if "data" in found else {}
