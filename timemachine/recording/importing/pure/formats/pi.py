"""Sessions of the Pi coding agent: JSON lines in `~/.pi/agent/sessions`.

The forms are those of https://github.com/badlogic/pi-mono (`session-manager.ts` and `docs/session.md` of its coding
agent). Since version 2 the lines form a tree; what is not on the way to the last line was left, and has the tag
`branch`. A session that was forked begins with the lines of the other session: they are copies.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import (
    Ids,
    link_results,
    session_draft,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts, written
from timemachine.recording.importing.pure.reader import Opening, Reader, identity_by_id
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    list_at,
    model_name,
    moment,
    moment_after_1970,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
    text_or_parts,
    usage_of,
    with_cached_input,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of

NAME: Final = "pi"
TITLE: Final = "Pi coding agent session (.jsonl file from ~/.pi/agent/sessions)"
_AGENT: Final = "pi"
_MESSAGE: Final = "message"
_BASH: Final = "bash"
_FAILED: Final = frozenset({"error", "aborted"})
_ROLES: Final = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"})
_FILE: Final = re.compile(r"_([0-9A-Za-z-]{8,64})\.jsonl$")


def recognises(opening: Opening) -> bool:
    """Return whether it begins with a session in a folder, or has one of its messages."""
    return any(_is_head(each) or _is_message(each) for each in opening.lines)


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if no line can be used."""
    lines = reader.lines(
        lambda record: isinstance(record.get("type"), str), "It has no `type`.", identity=identity_by_id
    )
    head = next((line.record for line in lines if line.record["type"] == "session"), {})
    parent = _FILE.search(text_at(head, "parentSession", "branchedFrom") or "")
    forked_at = moment(head.get("timestamp")) if parent else None
    off = _off_the_way(lines)
    ids = Ids()
    actions: list[ActionDraft] = []
    for line in lines:
        made = _line_actions(line, ids)
        if line.number in off:
            made = [replace(each, tags=(*each.tags, "branch")) for each in made]
        if parent is not None and forked_at is not None and _before(line.record, forked_at):
            made = [replace(each, copied_from=copy_of(parent[1], each.id)) for each in made]
        actions += made
    named = [text_at(line.record, "name") for line in lines if line.record["type"] == "session_info"]
    session = session_draft(
        reader.key(short_text_at(head, "id"), lines[0].record),
        link_results(actions),
        name=named[-1] if named else None,
        agent=_AGENT,
        metadata={name: head.get(name) for name in ("cwd", "version", "thinkingLevel", "parentSession")},
        forked_from=parent[1] if parent else None,
    )
    return reader.parsed([session])


def _is_head(record: JsonObject) -> bool:
    return record.get("type") == "session" and isinstance(record.get("cwd"), str) and "id" in record


def _is_message(record: JsonObject) -> bool:
    message = record_at(record, _MESSAGE)
    return record.get("type") == _MESSAGE and message.get("role") in _ROLES and "timestamp" in message


def _before(record: JsonObject, forked_at: datetime) -> bool:
    at = moment(record.get("timestamp"))
    return record["type"] != "session" and at is not None and at < forked_at


def _off_the_way(lines: Sequence[Line]) -> set[int]:
    """Return the numbers of the lines that are not on the way from the last line to the first."""
    in_tree = {
        name: line for line in lines if "parentId" in line.record and (name := text_at(line.record, "id"))
    }
    if not in_tree:
        return set()
    way: set[str] = set()
    name = next(reversed(in_tree))
    while name in in_tree and name not in way:
        way.add(name)
        name = text_at(in_tree[name].record, "parentId") or ""
    return {line.number for name, line in in_tree.items() if name not in way}


def _line_actions(line: Line, ids: Ids) -> list[ActionDraft]:
    record = line.record
    kind = record["type"]
    message = record_at(record, _MESSAGE)
    base = ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(record, "id") or f"line-{line.digest[:16]}"),
        layer="sys",
        role="system",
        name=kind[:80],
        started_at=moment(record.get("timestamp")) or _at(message),
        source=record,
    )
    if kind == _MESSAGE:
        return _message_actions(base, message, ids)
    if kind == "custom_message":
        return [replace(speaker("user", base), tags=("meta",), output=text_or_parts(record.get("content")))]
    shown = {
        name: value for name, value in record.items() if name not in {"type", "id", "parentId", "timestamp"}
    }
    return [replace(base, output=shown or None)]


def _at(message: JsonObject) -> datetime | None:
    return moment_after_1970(message.get("timestamp"), seconds_each=0.001)


def _message_actions(base: ActionDraft, message: JsonObject, ids: Ids) -> list[ActionDraft]:
    role = text_at(message, "role") or "unknown"
    content = text_or_parts(message.get("content"))
    if role == "assistant":
        return _answer(base, message, ids)
    if role == "toolResult":
        failed = message.get("isError") is True
        result = tool_result(
            base,
            tool=short_text_at(message, "toolName"),
            call_id=short_text_at(message, "toolCallId"),
            output=content,
            error_type="tool_error" if failed else None,
            error_message=text_of_content(message.get("content")) if failed else None,
        )
        return [result]
    if role == "bashExecution":
        return _bash(base, message, ids)
    if role == "user":
        return [replace(speaker("user", base), output=content)]
    return [replace(base, name=role[:80], output=content if content is not None else message)]


def _answer(base: ActionDraft, message: JsonObject, ids: Ids) -> list[ActionDraft]:
    stem = replace(speaker("agent", base), agent=_AGENT)
    reason = text_at(message, "stopReason")
    failed = reason in _FAILED
    stated = record_at(message, "usage")
    model = model_name(short_text_at(message, "model"), short_text_at(message, "provider"))
    usage = _usage(stated)
    call = replace(
        stem,
        kind="llm_call",
        started_at=_at(message) or stem.started_at,
        model=model,
        usage=usage,
        cost_usd=cost_at_their_price(record_at(stated, "cost").get("total"), usage, model),
        output=written(content=message.get("content"), stop_reason=reason),
        error_type=reason if failed else None,
        error_message=text_at(message, "errorMessage") if failed else None,
    )
    return turn_or_parts(call, _parts(stem, message), ids)


def _usage(usage: JsonObject) -> Usage | None:
    """Return the tokens. Pi does not include cached tokens in `input`."""
    found = usage_of(
        usage,
        read=["input"],
        written=["output"],
        total=["totalTokens"],
        cached=["cacheRead"],
        cache_write=["cacheWrite"],
        reasoning=["reasoning"],
    )
    return with_cached_input(found)


def _parts(stem: ActionDraft, message: JsonObject) -> Iterator[ActionDraft]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_at(message, "content")
    for block in blocks:
        kind = text_at(block, "type")
        if kind == "toolCall":
            call_id, tool = short_text_at(block, "id"), short_text_at(block, "name")
            yield tool_call(stem, tool=tool, call_id=call_id, given=block.get("arguments"))
        elif kind == "thinking":
            yield thought(stem, text_at(block, "thinking") or block)
        else:
            yield replace(stem, output=text_at(block, "text") or block)


def _bash(base: ActionDraft, message: JsonObject, ids: Ids) -> list[ActionDraft]:
    """Return the command that the user ran, and its output."""
    call = tool_call(base, tool=_BASH, call_id=None, given={"command": message.get("command")})
    result = tool_result(base, tool=_BASH, call_id=None, output=message.get("output"))
    code = message.get("exitCode")
    failed = message.get("cancelled") is True or code not in (0, None)
    return [
        replace(call, role="user"),
        replace(
            result,
            id=ids.claim(f"{base.id}/result"),
            parent=base.id,
            source=None,
            error_type=("cancelled" if message.get("cancelled") is True else "exit_code") if failed else None,
        ),
    ]
