"""Assembles a streamed answer of the Responses API, whose last event has the whole response."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.answer_stream import joined
from timemachine.llm.pure.usage import list_of, part_of, text_of

_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_TEXT: Final = "response.output_text.delta"
_PIECES: Final[Mapping[str, str]] = {
    _TEXT: "output_text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
"""What a piece of an item adds to: a part of its content, or a field of a call."""
_FIELDS: Final[Mapping[str, str]] = {"output_text": "text", "refusal": "refusal"}


class ResponsesStream:
    """The events of a response. If the stream breaks off, `body` has what arrived of its items."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._response: JsonObject = {}
        self._items: dict[int, JsonObject] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self._ended = False

    @property
    def complete(self) -> bool:
        """Whether the whole response arrived."""
        return self._ended

    @property
    def body(self) -> JsonObject:
        if self._ended:
            return self._response
        places = sorted({*self._items, *self._pieces})
        return {**self._response, "output": [self._item(place) for place in places]}

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event and return the text in it. Its `type` says which."""
        kind = str(event.get("type"))
        place = event.get("output_index")
        place = place if isinstance(place, int) else 0
        if kind == "error":
            self.error = event
        elif kind in _ENDS or "response" in event:
            self._response = dict(part_of(event.get("response")))
            self._ended = self._ended or kind in _ENDS
            failure = self._response.get("error")
            self.error = self.error or ({"error": failure} if failure else None)
        elif kind in _PIECES:
            piece = text_of(event.get("delta")) or ""
            self._pieces.setdefault(place, {}).setdefault(_PIECES[kind], []).append(piece)
            return piece if kind == _TEXT else ""
        elif "item" in event:
            self._items[place] = dict(part_of(event.get("item")))
            if kind.endswith(".done"):
                self._pieces.pop(place, None)
        return ""

    def _item(self, place: int) -> JsonObject:
        """Return an item with the pieces that arrived since it began."""
        item = dict(self._items.get(place) or {"type": "message", "role": "assistant"})
        for name, pieces in self._pieces.get(place, {}).items():
            text = joined("".join(pieces))
            if name in _FIELDS:
                part = {"type": name, _FIELDS[name]: text}
                item["content"] = [*list_of(item.get("content")), part]
            else:
                item[name] = text
        return item
