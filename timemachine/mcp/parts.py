"""Fields of any shape and length as parts of text that can be read on."""

from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.mcp.api import Refused
from timemachine.mcp.pure.fitting import beginning, readable, shares, shortened
from timemachine.mcp.pure.tokens import size, written

_OFFSET: Final = 8
"""Tokens by which the number `next_offset` can be longer than `offset`."""


class Part(Schema):
    """A field, or a part of it: `text` begins at character `offset` of `length`; `next_offset` is absent at the end."""

    field: str
    text: str
    length: int
    offset: int = 0
    next_offset: int = 0


def cut_parts(head: JsonObject, fields: JsonObject, offset: int, limit: int) -> JsonObject:
    """Return the head with these `fields`, each as much of it from `offset` on as fits. Raises `Refused` for an offset after the end."""
    texts = {name: readable(_text(value)) for name, value in fields.items()}
    for name, text in texts.items():
        if offset > len(text):
            raise Refused(f"`{name}` has {len(text):,} characters; use a smaller `offset`.")
    bare = {**head, "fields": [_part(name, text, offset, offset) for name, text in texts.items()]}
    left = max(limit - size(bare) - _OFFSET * len(texts), 0)
    wanted = [size(text[offset : offset + limit * 3 + 3]) for text in texts.values()]
    parts = [
        _part(name, text, offset, offset + len(beginning(text[offset:], max(share, 1))))
        for (name, text), share in zip(texts.items(), shares(wanted, left), strict=True)
    ]
    return shortened({**head, "fields": parts}, limit)


def _part(name: str, text: str, offset: int, end: int) -> JsonObject:
    part: JsonObject = {"field": name, "text": text[offset:end], "length": len(text)}
    if offset:
        part["offset"] = offset
    if end < len(text):
        part["next_offset"] = end
    return part


def _text(value: Any) -> str:
    return value if isinstance(value, str) else written(value)
