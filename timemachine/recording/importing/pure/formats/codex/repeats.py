"""Find the Codex lines that repeat another line."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.values import list_at, text_at, text_of_content

_EVENT_TEXTS = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
    "agent_reasoning_raw_content": ("reasoning content", "text"),
}


def repeats_in(lines: Sequence[Line]) -> dict[int, int]:
    """Return, for each `event_msg` line that repeats a `response_item`, the line number of that item, by line number.

    The first event with a text repeats the first item with that text, and so on. An event without a matching item
    repeats nothing.
    """
    items: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for line in lines:
        if line.record["type"] == "response_item":
            for item_text in _item_texts(line.record["payload"]):
                items[item_text].append(line.number)
    found = {}
    for line in lines:
        text = _event_text(line.record)
        if text is not None and items[text]:
            found[line.number] = items[text].popleft()
    return found


def _event_text(record: JsonObject) -> tuple[str, str] | None:
    who, where = _EVENT_TEXTS.get(text_at(record["payload"], "type") or "", ("", ""))
    text = text_at(record["payload"], where)
    return (who, text.strip()) if record["type"] == "event_msg" and text else None


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
