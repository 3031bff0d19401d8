"""Server-sent events (WHATWG HTML, 9.2.6): read from the bytes of an answer, and written. Pure."""

import codecs
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

MEDIA_TYPE: Final = "text/event-stream"
KEEP_ALIVE: Final = b": nothing yet\n\n"
"""A comment, which readers overlook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event: its name (`message` where it has none) and its data, lines joined by line feeds."""

    name: str
    data: str


def events_in(parts: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """The events as they become whole; what is not ended by an empty line is none. Raises `ValueError` for what is not UTF-8."""
    name, data = "", []
    for line in _lines(parts):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            if data:
                yield ServerSentEvent(name=name or "message", data="\n".join(data))
            name, data = "", []


def event_bytes(name: str, value: Any) -> bytes:
    """An event whose data is the value as JSON, in one line."""
    return f"event: {name}\ndata: {json.dumps(value, ensure_ascii=True)}\n\n".encode()


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """Whole lines, however they end and however they are cut into parts, in time linear in their length."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(), translate=True)
    begun: list[str] = []
    for part in parts:
        first, *others = decoder.decode(part).split("\n")
        begun.append(first)
        for other in others:
            yield "".join(begun)
            begun = [other]
