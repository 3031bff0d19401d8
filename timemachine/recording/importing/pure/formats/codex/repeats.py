"""Which lines of Codex say again what another line says. Pure."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.values import list_at, said, text_at

_TOLD = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
    "agent_reasoning_raw_content": ("reasoning content", "text"),
}


def repeats_in(lines: Sequence[Line]) -> dict[int, int]:
    """For the number of each `event_msg` line that repeats a `response_item`, the number of that item's line.

    The first event with a text repeats the first item with it, and so on; an event that no item matches repeats nothing.
    """
    items: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for line in lines:
        if line.record["type"] == "response_item":
            for said_there in _said_by(line.record["payload"]):
                items[said_there].append(line.number)
    found = {}
    for line in lines:
        told = _told(line.record)
        if told is not None and items[told]:
            found[line.number] = items[told].popleft()
    return found


def _told(record: dict[str, Any]) -> tuple[str, str] | None:
    who, where = _TOLD.get(text_at(record["payload"], "type") or "", ("", ""))
    text = text_at(record["payload"], where)
    return (who, text.strip()) if record["type"] == "event_msg" and text else None


def _said_by(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match payload:
        case {"type": "message", "role": str(role), "content": content}:
            if (text := said(content)) is not None:
                yield role, text.strip()
        case {"type": "reasoning"}:
            for who, name in (("reasoning", "summary"), ("reasoning content", "content")):
                for part in list_at(payload, name):
                    if (text := text_at(part, "text")) is not None:
                        yield who, text.strip()
