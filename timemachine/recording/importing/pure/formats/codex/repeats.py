"""Which `event_msg` lines of a Codex rollout repeat a `response_item`.

Earlier versions repeat each message and thought in `user_message`, `agent_message` and `agent_reasoning`. Later ones (seen in
0.171) repeat every item for the screen in an `item_completed`: also each command, change of files, search and call of a tool,
with its outcome. Such an event has the id of the item, or the `call_id` of the result that follows it. Only what the user
wrote has an id of its own, so it is found by its text, as the earlier events are.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.codex.items import RESULTS
from timemachine.recording.importing.pure.values import (
    list_at,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
)

_OF_ITEMS: Final = frozenset({"item_started", "item_completed"})
_AUTHORS: Final = {"UserMessage": "user", "AgentMessage": "assistant"}
_EVENT_TEXTS: Final = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
    "agent_reasoning_raw_content": ("reasoning content", "text"),
}
_THOUGHTS: Final = (("reasoning", "summary_text"), ("reasoning content", "raw_content"))


def repeats_in(lines: Sequence[Line]) -> dict[int, int]:
    """Return, for each `event_msg` line that repeats a `response_item`, the line number of that item, by line number.

    An event without a matching item repeats nothing.
    """
    events: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.record["type"] == "event_msg":
            kind = text_at(line.record["payload"], "type") or ""
            events[kind if kind in _OF_ITEMS else ""].append(line)
    items = [line for line in lines if line.record["type"] == "response_item"]
    found = _with_same_text(events.pop("", []), items)
    for told in events.values():
        same = _with_same_id(told, items)
        taken = frozenset(same.values())
        others = [line for line in told if line.number not in same]
        found |= same | _with_same_text(others, [line for line in items if line.number not in taken])
    return found


def _with_same_id(events: Iterable[Line], items: Iterable[Line]) -> dict[int, int]:
    """Return the first item after each event that has its id. What comes later than its result, as when a command outlives the
    call that started it, is in no other line."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for line in items:
        payload = line.record["payload"]
        name = short_text_at(payload, "call_id" if payload.get("type") in RESULTS else "id")
        if name is not None:
            numbers[name].append(line.number)
    found = {}
    for line in events:
        named = numbers.get(short_text_at(record_at(line.record["payload"], "item"), "id") or "", [])
        if (place := bisect_right(named, line.number)) < len(named):
            found[line.number] = named[place]
    return found


def _with_same_text(events: Iterable[Line], items: Iterable[Line]) -> dict[int, int]:
    """Return the item that each event repeats: the first event with a text repeats the first item with that text, and so on."""
    numbers: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for line in items:
        for item_text in _item_texts(line.record["payload"]):
            numbers[item_text].append(line.number)
    found = {}
    for line in events:
        text = _event_text(line.record["payload"])
        if text is not None and numbers[text]:
            found[line.number] = numbers[text].popleft()
    return found


def request_in(payload: JsonObject) -> str | None:
    """Return what the user wrote, if that is what the payload of an event tells."""
    who, text = _event_text(payload) or ("", "")
    return text if who == "user" else None


def _event_text(payload: JsonObject) -> tuple[str, str] | None:
    kind = text_at(payload, "type") or ""
    if kind in _OF_ITEMS:
        return _text_of_event_item(record_at(payload, "item"))
    who, where = _EVENT_TEXTS.get(kind, ("", ""))
    text = text_at(payload, where)
    return (who, text.strip()) if text else None


def _text_of_event_item(item: JsonObject) -> tuple[str, str] | None:
    """Return who said what in the item of an event."""
    kind = text_at(item, "type") or ""
    if kind == "Reasoning":
        texts = ((who, each) for who, name in _THOUGHTS for each in list_at(item, name))
        return next(((who, text.strip()) for who, text in texts if isinstance(text, str)), None)
    text = text_of_content(item.get("content"))
    return (_AUTHORS[kind], text.strip()) if kind in _AUTHORS and text else None


def _item_texts(payload: JsonObject) -> Iterator[tuple[str, str]]:
    match payload:
        case {"type": "message", "role": str(role), "content": content}:
            if (text := text_of_content(content)) is not None:
                yield role, text.strip()
        case {"type": "reasoning"}:
            for who, name in (("reasoning", "summary"), ("reasoning content", "content")):
                for part in list_at(payload, name):
                    if (text := text_at(part, "text")) is not None:
                        yield who, text.strip()
