"""The messages of a model call, part by part."""

import json
from collections.abc import Iterable
from typing import Any, Final, Protocol

from timemachine.llm.pure.requests import neutral
from timemachine.web.payloads.pure.images import Image, image_in
from timemachine.web.payloads.pure.pieces import Message, Part, Piece, Plain

ENCRYPTED: Final = "(encrypted)"


class Reader(Protocol):
    """What reads the values of a payload."""

    def as_plain(self) -> "Reader":
        """Return a reader of what a program wrote."""

    def text(self, text: str) -> list[Piece]:
        """Return the pieces of a text."""

    def whole(self, value: Any, text: str) -> list[Piece]:
        """Return the pieces of a value, with its JSON."""

    def picture(self, image: Image) -> Piece:
        """Return an image of the payload."""


def messages(reader: Reader, several: Iterable[neutral.Message]) -> list[Message]:
    """Return messages with their parts."""
    return [Message(role=each.role, pieces=parts(reader, each.parts)) for each in several]


def parts(reader: Reader, several: Iterable[neutral.Part]) -> list[Piece]:
    """Return the parts of a message: texts as they are, anything else with what it is."""
    return [piece for each in several for piece in part(reader, each)]


def part(reader: Reader, each: neutral.Part) -> list[Piece]:
    """Return one part of a message."""
    match each:
        case neutral.Text():
            return reader.text(each.text) if each.text else []
        case neutral.ToolCall():
            return [Part(words="calls", name=each.name, pieces=_arguments(reader, each))]
        case neutral.Other():
            pieces = reader.whole(each.value, _json(each.value))
            return [Part(words="only for", name=each.provider, pieces=pieces)]
        case neutral.Media():
            return [Part(words=each.kind, name=each.name or each.media_type, pieces=_media(reader, each))]
        case neutral.ToolResult():
            words = "error of" if each.is_error else "result of"
            return [Part(words=words, name=each.name or each.call_id, pieces=_result(reader, each))]
    words = "thinking" if isinstance(each, neutral.Thinking) else "refuses"
    return [Part(words=words, name=None, pieces=reader.text(each.text or ENCRYPTED))]


def _arguments(reader: Reader, call: neutral.ToolCall) -> list[Piece]:
    if call.raw is not None:
        return plain(reader, call.raw)
    return plain_value(reader, call.arguments)


def _result(reader: Reader, result: neutral.ToolResult) -> list[Piece]:
    return [
        piece
        for each in result.parts
        for piece in (plain(reader, each.text) if isinstance(each, neutral.Text) else part(reader, each))
    ]


def _media(reader: Reader, media: neutral.Media) -> list[Piece]:
    image = image_in({"type": media.kind, "data": media.data}) or image_in(media.url)
    if image is not None:
        return [reader.picture(image)]
    return [
        Plain(media.text or media.url or media.file_id or f"{len(media.data or ''):,} characters of base64")
    ]


def plain(reader: Reader, text: str) -> list[Piece]:
    """Return the pieces of a text that a program wrote."""
    return reader.as_plain().text(text)


def plain_value(reader: Reader, value: object) -> list[Piece]:
    """Return the pieces of a value that a program reads."""
    return reader.as_plain().whole(value, _json(value))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
