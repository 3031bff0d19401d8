"""Server-sent events (WHATWG HTML, 9.2.6): read from the bytes of a response, and written."""

import codecs
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

MEDIA_TYPE: Final = "text/event-stream"
KEEP_ALIVE: Final = b": nothing yet\n\n"
"""A comment, which readers ignore."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event: its name (`message` by default) and its data, with its lines joined by line feeds."""

    name: str
    data: str


def events_in(parts: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Yield the events as they become complete. An event without an empty line after it is dropped. Raises `ValueError`
    if the bytes are not UTF-8.
    """
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
    """Encode an event whose data is the value as JSON on one line."""
    return f"event: {name}\ndata: {json.dumps(value, ensure_ascii=True)}\n\n".encode()


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """Yield complete lines, whatever their line ends and wherever the parts are cut, in linear time."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(), translate=True)
    begun: list[str] = []
    for part in parts:
        first, *others = decoder.decode(part).split("\n")
        begun.append(first)
        for other in others:
            yield "".join(begun)
            begun = [other]
