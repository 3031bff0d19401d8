"""The content blocks of Anthropic's Messages API.

https://platform.claude.com/docs/en/api/messages
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    extra_of,
    is_only_text,
    name_at,
    object_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.media import PDF
from timemachine.llm.pure.requests.neutral import (
    ANTHROPIC,
    Media,
    Other,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.notes import Notes

_PLAIN: Final = "text/plain"
_INPUT: Final = "input"


def text_blocks(content: Any, where: str) -> list[JsonObject]:
    """Return content as a list of blocks. A text is a block of text.

    Raises:
        RequestError: It is neither a text nor a list of blocks.
    """
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise RequestError(f"`{where}` is neither text nor a list.")
    for number, block in enumerate(content):
        if not isinstance(block, dict):
            raise RequestError(f"`{where}[{number}]` is not a JSON object.")
    return content


def read_blocks(content: Any, where: str) -> list[Part]:
    """Read content. Empty text is nothing.

    Raises:
        RequestError: It is neither a text nor a list of blocks, or a call has no name.
    """
    blocks = text_blocks(content, where)
    parts = [_read_block(block, f"{where}[{number}]") for number, block in enumerate(blocks)]
    return [part for part in parts if part != Text("")]


def _read_block(block: JsonObject, where: str) -> Part:
    read = _READERS.get(str(block.get("type")))
    part = read(block, where) if read else None
    return Other(ANTHROPIC, block) if part is None else part


def _own(block: JsonObject, *known: str) -> Mapping[str, JsonObject]:
    return extra_of(ANTHROPIC, rest(block, "type", *known))


def _read_text(block: JsonObject, where: str) -> Part | None:  # noqa: ARG001
    text = text_at(block, "text")
    return None if text is None else Text(text, _own(block, "text"))


def _read_media(block: JsonObject, where: str) -> Part | None:  # noqa: ARG001
    source, document = object_at(block, "source"), block["type"] == "document"
    place = _read_source(source, document=document)
    if place is None:
        return None
    return Media(
        kind="document" if document else "image",
        name=text_at(block, "title") if document else None,
        extra=_own(block, "source", *(("title",) if document else ())),
        **place,
    )


def _read_source(source: JsonObject, *, document: bool) -> dict[str, Any] | None:
    kind, data, media_type = (text_at(source, name) for name in ("type", "data", "media_type"))
    url, file_id = text_at(source, "url"), text_at(source, "file_id")
    fields = {name for name, value in source.items() if value is not None}
    if kind == "base64" and data is not None and media_type and fields == {"type", "data", "media_type"}:
        return {"data": data, "media_type": media_type}
    if kind == "url" and url is not None and fields == {"type", "url"}:
        return {"url": url}
    if kind == "file" and file_id is not None and fields == {"type", "file_id"}:
        return {"file_id": file_id, "uploaded_to": ANTHROPIC}
    if document and kind == "text" and data is not None and source == {**source, "media_type": _PLAIN}:
        return {"text": data, "media_type": _PLAIN} if fields == {"type", "data", "media_type"} else None
    return None


def _read_call(block: JsonObject, where: str) -> Part:
    return ToolCall(
        id=text_at(block, "id") or "",
        name=name_at(block, where),
        arguments={} if block.get(_INPUT) is None else block[_INPUT],
        extra=_own(block, "id", "name", _INPUT),
    )


def _read_result(block: JsonObject, where: str) -> Part:
    parts = read_blocks(block.get("content"), f"{where}.content")
    return ToolResult(
        call_id=text_at(block, "tool_use_id") or "",
        parts=tuple(part for part in parts if isinstance(part, Text | Media | Other)),
        is_error=block.get("is_error") is True,
        extra=_own(block, "tool_use_id", "content", "is_error"),
    )


def _read_thinking(block: JsonObject, where: str) -> Part | None:  # noqa: ARG001
    text = text_at(block, "thinking")
    signature = text_at(block, "signature")
    if text is None:
        return None
    return Thinking(
        provider=ANTHROPIC, text=text, signature=signature, extra=_own(block, "thinking", "signature")
    )


def _read_redacted(block: JsonObject, where: str) -> Part | None:  # noqa: ARG001
    data = text_at(block, "data")
    return None if data is None else Thinking(provider=ANTHROPIC, data=data, extra=_own(block, "data"))


_READERS: Final[Mapping[str, Callable[[JsonObject, str], Part | None]]] = {
    "text": _read_text,
    "image": _read_media,
    "document": _read_media,
    "tool_use": _read_call,
    "tool_result": _read_result,
    "thinking": _read_thinking,
    "redacted_thinking": _read_redacted,
}


def write_blocks(parts: Iterable[Part], notes: Notes) -> list[JsonObject]:
    """Write parts as blocks. Empty text, which the API refuses, is left out."""
    return [block for part in parts if (block := _write_block(part, notes)) is not None]


def shortened(blocks: list[JsonObject]) -> str | list[JsonObject]:
    """Return content as a text if it is one block of text only."""
    if len(blocks) == 1 and is_only_text(blocks[0]):
        return str(blocks[0]["text"])
    return blocks


def _write_block(part: Part, notes: Notes) -> JsonObject | None:
    if isinstance(part, ToolCall):
        return _write_call(part, notes)
    if isinstance(part, ToolResult):
        return _write_result(part, notes)
    if isinstance(part, Thinking):
        return _write_thinking(part, notes)
    return _write_content(part, notes)


def _write_content(part: Text | Refusal | Media | Other, notes: Notes) -> JsonObject | None:
    if isinstance(part, Text | Refusal):
        return _write_text(part, notes)
    if isinstance(part, Media):
        return _write_media(part, notes)
    if part.provider == ANTHROPIC:
        return dict(part.value)
    notes.part(part)
    return None


def _write_text(part: Text | Refusal, notes: Notes) -> JsonObject | None:
    if isinstance(part, Refusal):
        notes.note("Refusals are sent as text.")
    own = notes.own(part.extra)
    return {"type": "text", "text": part.text, **own} if part.text or own else None


def _write_media(media: Media, notes: Notes) -> JsonObject | None:
    source = _write_source(media, notes)
    if source is None:
        return None
    kind = "document" if media.kind == "document" else "image"
    title = {"title": media.name} if kind == "document" and media.name is not None else {}
    return {"type": kind, "source": source, **title, **notes.own(media.extra)}


def _write_source(media: Media, notes: Notes) -> JsonObject | None:
    if media.kind == "audio":
        notes.unknown("A recording")
    elif media.text is not None:
        return {"type": "text", "media_type": _PLAIN, "data": media.text}
    elif media.data is not None:
        media_type = media.media_type or (PDF if media.kind == "document" else "image/png")
        return {"type": "base64", "media_type": media_type, "data": media.data}
    elif media.url is not None:
        return {"type": "url", "url": media.url}
    elif media.uploaded_to == ANTHROPIC:
        return {"type": "file", "file_id": media.file_id}
    else:
        notes.foreign("An uploaded file", media.uploaded_to or "another server")
    return None


def _write_call(call: ToolCall, notes: Notes) -> JsonObject:
    arguments = call.arguments
    if call.raw is not None:
        notes.note(f"Call arguments that are not JSON are sent as text in `{_INPUT}`.")
        arguments = {_INPUT: call.raw}
    return {"type": "tool_use", "id": call.id, "name": call.name, _INPUT: arguments, **notes.own(call.extra)}


def _write_result(result: ToolResult, notes: Notes) -> JsonObject:
    content = write_blocks(result.parts, notes)
    if result.name is not None:
        notes.unknown("The tool name next to a result")
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        **({"content": shortened(content)} if content else {}),
        **({"is_error": True} if result.is_error else {}),
        **notes.own(result.extra),
    }


def _write_thinking(part: Thinking, notes: Notes) -> JsonObject | None:
    if part.provider != ANTHROPIC:
        notes.part(part)
        return None
    own = notes.own(part.extra)
    if part.data is not None:
        return {"type": "redacted_thinking", "data": part.data, **own}
    signature = {} if part.signature is None else {"signature": part.signature}
    return {"type": "thinking", "thinking": part.text, **signature, **own}
