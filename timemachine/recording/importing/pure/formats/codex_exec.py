"""Output of `codex exec --json`: events of a thread, of its turns and of their items (codex-rs/exec/src/exec_events.rs).

The events of one item become one action, with a result if the item has one. The tokens of a turn are on an event: the
model calls inside a turn are not recorded, nor is the model. Codex writes the total of the thread so far, so a later
turn has the difference. The prompt, times and model are not in this output.

The report counts lines.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, session_draft, tool_call, tool_result
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    count_at,
    first_at,
    record_at,
    short_text,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "codex_exec"
TITLE: Final = "Output of codex exec --json (.jsonl)"
_STARTS: Final = frozenset({"thread.started", "session.created"})
_ITEM_EVENTS: Final = frozenset({"item.started", "item.updated", "item.completed"})
_EVENTS: Final = (
    _STARTS
    | _ITEM_EVENTS
    | {"turn.started", "turn.completed", "turn.failed", "item.plan.delta", "request_user_input", "error"}
)
_SPOKEN: Final = {"agent_message": None, "assistant_message": None, "reasoning": "thinking", "plan": "plan"}
_GIVEN: Final = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
}
_FAILED: Final = frozenset({"failed", "declined"})


@dataclass(slots=True, kw_only=True)
class _Step:
    """An event, or the events of one item, the last of which holds all of it."""

    events: list[JsonObject] = field(default_factory=list)


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines is the start of a thread, or an item."""
    return any(map(_is_typical, opening.lines))


def read(reader: Reader) -> ParsedFile:
    """Return one session per thread. Raises `InvalidInput` (`unknown_format`) if no line can be used."""
    lines = reader.lines(_is_event, "It is not an event of `codex exec --json`.")
    threads: list[list[JsonObject]] = []
    for line in lines:
        thread = _thread(line.record)
        if not threads or (thread is not None and thread != _thread(threads[-1][0])):
            threads.append([])
        threads[-1].append(line.record)
    return reader.parsed(
        session_draft(
            reader.key(None, events),
            list(_actions(events)),
            agent="codex",
            metadata={"thread_id": _thread(events[0])},
        )
        for events in threads
    )


def _is_event(record: JsonObject) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in _EVENTS


def _is_typical(record: JsonObject) -> bool:
    kind = record.get("type")
    item = record_at(record, "item")
    by_item = isinstance(kind, str) and kind in _ITEM_EVENTS and ("type" in item or "item_type" in item)
    return by_item or (kind == "thread.started" and _thread(record) is not None)


def _thread(record: JsonObject) -> str | None:
    started = _is_event(record) and record["type"] in _STARTS
    return short_text_at(record, "thread_id", "session_id") if started else None


def _actions(events: list[JsonObject]) -> Iterator[ActionDraft]:
    ids = Ids()
    before: Usage | None = None
    for place, step in enumerate(_steps(events), start=1):
        last = step.events[-1]
        base = ActionDraft(
            kind="event", layer="agent", role="agent", agent="codex",
            source=last if len(step.events) == 1 else step.events,
        )  # fmt: skip
        if last["type"] in _ITEM_EVENTS:
            item = record_at(last, "item")
            kind = text_at(item, "type", "item_type") or "item"
            yield from _item(kind, item, replace(base, id=ids.claim(f"item-{place}")), ids)
            continue
        total = _usage(record_at(last, "usage"))
        yield _event(last, replace(base, id=ids.claim(f"event-{place}"), usage=_since(before, total)))
        before = total or before


def _steps(events: list[JsonObject]) -> Iterator[_Step]:
    """Yield the events in order, those of an item together, at the place of its first. Ids start again with each run."""
    steps: list[_Step] = []
    items: dict[str, _Step] = {}
    for event in events:
        item = short_text_at(record_at(event, "item"), "id") if event["type"] in _ITEM_EVENTS else None
        if event["type"] in _STARTS:
            items = {}
        begun = items.get(item or "")
        if begun is not None and begun.events[-1]["type"] != "item.completed":
            begun.events.append(event)
            continue
        steps.append(_Step(events=[event]))
        if item is not None:
            items[item] = steps[-1]
    yield from steps


def _usage(recorded: JsonObject) -> Usage | None:
    return usage_of(
        recorded,
        read=["input_tokens"],
        written=["output_tokens"],
        cached=["cached_input_tokens"],
        cache_write=["cache_write_input_tokens"],
        reasoning=["reasoning_output_tokens"],
    )


def _since(before: Usage | None, total: Usage | None) -> Usage | None:
    """Return the tokens since the last total. A smaller total is not one of the same count, and is returned as it is."""
    if before is None or total is None:
        return total
    earlier, later = asdict(before), asdict(total)
    grown = {name: count - (earlier[name] or 0) for name, count in later.items() if count is not None}
    return total if any(count < 0 for count in grown.values()) else Usage(**grown)


def _event(event: JsonObject, base: ActionDraft) -> ActionDraft:
    kind = event["type"]
    failure = text_at(record_at(event, "error"), "message") or text_at(event, "message", "error")
    failed = kind in ("turn.failed", "error")
    rest = {name: value for name, value in event.items() if name != "type"}
    return replace(
        base,
        layer="sys",
        role="system",
        name=kind,
        output=rest or None,
        error_type=kind if failed else None,
        error_message=failure if failed else None,
    )


def _item(kind: str, item: JsonObject, base: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    if kind in _SPOKEN:
        name = _SPOKEN[kind]
        tags = ("thinking",) if name == "thinking" else ()
        yield replace(base, kind="message", name=name, tags=tags, output=item.get("text"))
    elif kind in _GIVEN or kind == "mcp_tool_call":
        yield from _call(kind, item, base, ids)
    else:
        message = text_at(item, "message") if kind == "error" else None
        yield replace(
            base,
            name=short_text(kind),
            output=item or None,
            error_type="error" if kind == "error" else None,
            error_message=message,
        )


def _call(kind: str, item: JsonObject, base: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    tool = short_text_at(item, "tool") or kind
    names = _GIVEN.get(kind, ())
    given: Any = {name: item[name] for name in names if item.get(name) is not None} or item.get("arguments")
    yield tool_call(base, tool=tool, call_id=short_text_at(item, "id"), given=given)
    code, status = count_at(item, "exit_code"), text_at(item, "status")
    failure = record_at(item, "error")
    output = first_at(item, "aggregated_output", "result", "agents_states")
    failed = bool(code) or bool(failure) or status in _FAILED
    ended = status not in (None, "in_progress") or code is not None
    if not ended and output in (None, "", {}):
        return
    yield tool_result(
        replace(base, id=ids.claim(f"{base.id}/result"), parent=base.id, source=None),
        tool=tool,
        call_id=short_text_at(item, "id"),
        output=output,
        error_type=("exit_code" if code else "tool_error") if failed else None,
        error_message=(text_at(failure, "message") or (f"exit code {code}" if code else status))
        if failed
        else None,
    )
