"""The items of OpenAI's Responses API, which has one list for messages, calls, results and reasoning.

https://platform.openai.com/docs/api-reference/responses/create
"""

from collections.abc import Iterable
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    arguments_of,
    as_text,
    extra_of,
    name_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.media import FILE_PLACES, as_url, from_url, read_file, write_file
from timemachine.llm.pure.requests.neutral import (
    RESPONSES,
    Media,
    Message,
    Other,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.notes import Notes

ITEM: Final = "item"
"""The name under which a part keeps the fields of the message it was in."""
_ROLES: Final = ("system", "developer", "user", "assistant")
_TEXTS: Final = ("input_text", "output_text", "text")
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


class _Messages:
    """Collects messages. What the model wrote one after another is one message."""

    def __init__(self) -> None:
        self.done: list[Message] = []
        self._answer: list[Part] | None = None

    def add(self, message: Message) -> None:
        self.finish()
        self.done.append(message)

    def answer(self, parts: Iterable[Part]) -> None:
        self._answer = [*(self._answer or ()), *parts]

    def finish(self) -> None:
        if self._answer is not None:
            self.done.append(Message(role="assistant", parts=tuple(self._answer)))
        self._answer = None


def read_items(items: list[JsonObject]) -> tuple[Message, ...]:
    """Read a list of items. Neighbouring items of the model, such as reasoning, text and calls, become one message.

    Raises:
        RequestError: A message has an unknown role or unreadable content, or a call has no name.
    """
    messages = _Messages()
    for number, item in enumerate(items):
        where = f"input[{number}]"
        kind = str(item.get("type") or ("message" if "role" in item else ""))
        if kind == "message":
            _read_message(item, where, messages)
        elif kind in _CALLS:
            messages.answer([_read_call(item, kind, where)])
        elif kind == "reasoning":
            messages.answer([_read_reasoning(item)])
        elif kind in _RESULTS:
            messages.add(Message(role="tool", parts=(_read_result(item, kind, where),)))
        elif kind.endswith("_output"):
            messages.add(Message(role="tool", parts=(Other(RESPONSES, item),)))
        else:
            messages.answer([Other(RESPONSES, item)])
    messages.finish()
    return tuple(messages.done)


def _read_message(item: JsonObject, where: str, messages: _Messages) -> None:
    role = text_at(item, "role")
    if role not in _ROLES:
        raise RequestError(
            f"`{where}` has the role {item.get('role')!r}, which the Responses API does not have."
        )
    parts = read_content(item.get("content"), f"{where}.content")
    own = rest(item, "type", "role", "content")
    if role != "assistant":
        messages.add(Message(role=role, parts=tuple(parts), extra=extra_of(RESPONSES, own)))  # type: ignore[arg-type]
    elif all(
        isinstance(part, Text | Refusal) and ITEM not in part.extra.get(RESPONSES, {}) for part in parts
    ):
        messages.answer(_in_item(part, own) for part in parts)
    else:
        messages.answer([Other(RESPONSES, item)])


def _in_item(part: Part, own: JsonObject) -> Part:
    if own and isinstance(part, Text | Refusal):
        return type(part)(part.text, {RESPONSES: {**part.extra.get(RESPONSES, {}), ITEM: own}})
    return part


def read_content(content: Any, where: str) -> list[Text | Media | Refusal | Other]:
    """Read the content of a message or of a result. Empty text is nothing.

    Raises:
        RequestError: It is neither a text nor a list of parts.
    """
    if content is None or isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise RequestError(f"`{where}` is neither text nor a list of JSON objects.")
    parts = [_read_part(part) for part in content]
    return [part for part in parts if part not in (Text(""), Refusal(""))]


def _read_part(part: JsonObject) -> Text | Media | Refusal | Other:
    kind, text = part.get("type"), text_at(part, "text")
    if kind in _TEXTS and text is not None:
        return Text(text, extra_of(RESPONSES, rest(part, "type", "text")))
    refusal = text_at(part, "refusal")
    if kind == "refusal" and refusal is not None:
        return Refusal(refusal, extra_of(RESPONSES, rest(part, "type", "refusal")))
    if kind == "input_file" and (place := read_file(part)):
        own = rest(part, "type", *FILE_PLACES, "filename")
        return Media(kind="document", extra=extra_of(RESPONSES, own), **place)
    if kind == "input_image":
        return _read_image(part) or Other(RESPONSES, part)
    return Other(RESPONSES, part)


def _read_image(part: JsonObject) -> Media | None:
    url, file_id = text_at(part, "image_url"), text_at(part, "file_id")
    if (url is None) == (file_id is None):
        return None
    place: dict[str, Any] = {"file_id": file_id, "uploaded_to": "openai"} if url is None else from_url(url)
    own = rest(part, "type", "image_url", "file_id")
    return Media(kind="image", extra=extra_of(RESPONSES, own), **place)


def _read_call(item: JsonObject, kind: str, where: str) -> ToolCall:
    free_text, field = kind == "custom_tool_call", _CALLS[kind]
    arguments, raw = (None, text_at(item, field) or "") if free_text else arguments_of(item.get(field))
    return ToolCall(
        id=text_at(item, "call_id") or "",
        name=name_at(item, where),
        arguments=arguments,
        raw=raw,
        free_text=free_text,
        extra=extra_of(RESPONSES, rest(item, "type", "call_id", "name", field)),
    )


def _read_result(item: JsonObject, kind: str, where: str) -> ToolResult:
    parts = read_content(item.get("output"), f"{where}.output")
    return ToolResult(
        call_id=text_at(item, "call_id") or "",
        parts=tuple(part for part in parts if not isinstance(part, Refusal)),
        name=text_at(item, "name"),
        free_text=kind == "custom_tool_call_output",
        extra=extra_of(RESPONSES, rest(item, "type", "call_id", "output", "name")),
    )


def _read_reasoning(item: JsonObject) -> Thinking:
    texts = [
        text
        for name in ("summary", "content")
        for part in (item[name] if isinstance(item.get(name), list) else ())
        if isinstance(part, dict) and (text := text_at(part, "text"))
    ]
    return Thinking(
        provider=RESPONSES,
        text="\n\n".join(texts),
        data=text_at(item, "encrypted_content"),
        extra=extra_of(RESPONSES, {"summary": [], **rest(item, "type")}),
    )


def write_items(messages: Iterable[Message], notes: Notes) -> list[JsonObject]:
    """Write messages as items."""
    return [item for message in messages for item in _write_message(message, notes)]


def _write_message(message: Message, notes: Notes) -> list[JsonObject]:
    if message.name is not None:
        notes.unknown("A message's author name")
    if message.role in ("assistant", "tool"):
        notes.own(message.extra)
        items = [item for part in message.parts for item in _write_item(part, notes)]
        empty = message.role == "assistant" and not message.parts
        return [{"role": "assistant", "content": ""}] if empty else _joined(items)
    own = notes.own(message.extra)
    kind = {"type": "message"} if own else {}
    return [{**kind, "role": message.role, "content": write_content(message.parts, notes), **own}]


def _write_item(part: Part, notes: Notes) -> list[JsonObject]:
    if isinstance(part, Text | Refusal):
        return [_write_answer(part, notes)]
    if isinstance(part, ToolCall):
        return [_write_call(part, notes)]
    if isinstance(part, ToolResult):
        return [_write_result(part, notes)]
    if isinstance(part, Thinking):
        return _write_reasoning(part, notes)
    if isinstance(part, Other) and part.provider == RESPONSES:
        return [dict(part.value)]
    if isinstance(part, Media):
        notes.unknown("Media that the model produced")
    else:
        notes.part(part)
    return []


def _write_answer(part: Text | Refusal, notes: Notes) -> JsonObject:
    own = notes.own(part.extra)
    item = own.pop(ITEM, None)
    kind, field = ("refusal", "refusal") if isinstance(part, Refusal) else ("output_text", "text")
    content: Any = [{"type": kind, field: part.text, **own}]
    if isinstance(item, dict):
        return {"type": "message", "role": "assistant", "content": content, **item}
    plain = isinstance(part, Text) and not own
    return {"role": "assistant", "content": part.text if plain else content}


def _joined(items: list[JsonObject]) -> list[JsonObject]:
    """Put the parts of one message, which have the same fields, into one item again."""
    joined: list[JsonObject] = []
    for item in items:
        before = joined[-1] if joined else {}
        same = item.get("type") == "message" and rest(before, "content") == rest(item, "content")
        if same and isinstance(before.get("content"), list) and isinstance(item.get("content"), list):
            joined[-1] = {**before, "content": [*before["content"], *item["content"]]}
        else:
            joined.append(item)
    return joined


def write_content(parts: Iterable[Part], notes: Notes) -> str | list[JsonObject]:
    """Write the content of a message or of a result: a text if it is one text and nothing else."""
    written = [each for part in parts if (each := _write_part(part, notes)) is not None]
    if len(written) == 1 and set(written[0]) == {"type", "text"} and written[0]["type"] == "input_text":
        text = written[0]["text"]
        return text if isinstance(text, str) else written
    return written or ""


def _write_part(part: Part, notes: Notes) -> JsonObject | None:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text, **notes.own(part.extra)}
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text, **notes.own(part.extra)}
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Other) and part.provider == RESPONSES:
        return dict(part.value)
    notes.part(part)
    return None


def _write_media(media: Media, notes: Notes) -> JsonObject | None:
    if media.text is not None:
        notes.note("Plain-text documents are sent as text.")
        return {"type": "input_text", "text": media.text}
    if media.file_id is not None and media.uploaded_to != "openai":
        notes.foreign("An uploaded file", media.uploaded_to or "another server")
        return None
    if media.kind == "audio":
        notes.unknown("A recording")
        return None
    own = notes.own(media.extra)
    if media.kind == "document":
        return {"type": "input_file", **write_file(media), **own}
    place = {"image_url": as_url(media)} if media.file_id is None else {"file_id": media.file_id}
    return {"type": "input_image", **place, **own}


def _write_call(call: ToolCall, notes: Notes) -> JsonObject:
    kind = "custom_tool_call" if call.free_text else "function_call"
    text = as_text(call.arguments) if call.raw is None else call.raw
    own = notes.own(call.extra)
    return {"type": kind, "call_id": call.id, "name": call.name, _CALLS[kind]: text, **own}


def _write_result(result: ToolResult, notes: Notes) -> JsonObject:
    if result.is_error:
        notes.unknown("The flag that a result is an error")
    return {
        "type": _RESULTS[result.free_text],
        "call_id": result.call_id,
        "output": write_content(result.parts, notes),
        **({} if result.name is None else {"name": result.name}),
        **notes.own(result.extra),
    }


def _write_reasoning(part: Thinking, notes: Notes) -> list[JsonObject]:
    if part.provider != RESPONSES:
        notes.part(part)
        return []
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    return [{"type": "reasoning", **(notes.own(part.extra) or {"summary": summary})}]
