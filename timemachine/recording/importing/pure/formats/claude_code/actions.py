"""What the lines of one Claude Code session become. Pure.

    user line             a `message` for each text, image or document; a `tool_result` for each result
    assistant lines       one `llm_call` for each message id and a child for each block (`claude_code_calls`)
    any other line        an `event` named by its type

Whoever says it, what is said stands in `output`. The lines themselves are kept in `source`: an `llm_call` has the list of
its lines, any other action the line's object; where one line becomes several actions, the first has it and the others None.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from timemachine.recording.importing.pure.formats.claude_code.calls import Call, call_actions, calls_of
from timemachine.recording.importing.pure.formats.claude_code.lines import (
    identity,
    message_of,
    stem,
    text_at,
    type_of,
)
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.session_builder import Ids, linked
from timemachine.recording.importing.pure.values import said
from timemachine.recording.sessions.pure.draft import ActionDraft

_ENVELOPE = {
    "type", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "isSidechain", "userType", "cwd", "version",
    "gitBranch",
}  # fmt: skip
_CONTENT = ("content", "summary", "snapshot")
_COMMAND = re.compile(
    r"\s*<(command-(name|message|args)|local-command-(stdout|stderr|caveat)|bash-(input|stdout|stderr))>"
)


def actions_of(lines: Sequence[Line]) -> tuple[ActionDraft, ...]:
    """The actions of one session's lines, in the order of the lines; a call stands where its first line stood.

    No duration is given: the time between a call and its result holds the user's hesitation too.
    """
    ids = Ids()
    calls = calls_of(lines, ids)
    made = [action for line in lines for action in _line_actions(line, calls.get(line.number), ids)]
    return tuple(linked(made))


def _line_actions(line: Line, call: Call | None, ids: Ids) -> Iterable[ActionDraft]:
    if call is not None:
        return call_actions(line, call, ids)
    content = message_of(line).get("content")
    if line.record["type"] == "user" and isinstance(content, str):
        return [replace(_text(stem(line), content), id=ids.claim(identity(line)), source=line.record)]
    if line.record["type"] == "user" and isinstance(content, list) and content:
        return _user_actions(line, content, ids)
    return [replace(stem(line), id=ids.claim(identity(line)), output=_told(line.record), source=line.record)]


def _user_actions(line: Line, blocks: Sequence[Any], ids: Ids) -> Iterator[ActionDraft]:
    base = stem(line)
    for place, block in enumerate(blocks, start=1):
        source = line.record if place == 1 else None
        yield replace(_sent(base, block), id=ids.claim(f"{identity(line)}/{place}"), source=source)


def _sent(base: ActionDraft, block: Any) -> ActionDraft:
    match block:
        case {"type": "text", "text": str(text)}:
            return _text(base, text)
        case {"type": "image" | "document"}:
            return replace(base, kind="message", layer="agent", role="user", name=None, output=block)
        case {"type": "tool_result"}:
            return _result(base, block)
    return replace(base, layer="agent", role="user", name=type_of(block), output=block)


def _text(base: ActionDraft, text: str) -> ActionDraft:
    tags = (*base.tags, "command") if _COMMAND.match(text) else base.tags
    return replace(base, kind="message", layer="agent", role="user", name=None, tags=tags, output=text)


def _result(base: ActionDraft, block: dict[str, Any]) -> ActionDraft:
    content = block.get("content")
    failed = block.get("is_error") is True
    return replace(
        base,
        kind="tool_result",
        layer="tool",
        role="tool",
        name=None,
        call_id=text_at(block, "tool_use_id"),
        output=content,
        error_type="tool_error" if failed else None,
        error_message=said(content) if failed else None,
    )


def _told(record: dict[str, Any]) -> Any:
    """What a line says: its content, summary or snapshot; else all of it that is not the envelope around every line."""
    for name in _CONTENT:
        if name in record:
            return record[name]
    return {name: value for name, value in record.items() if name not in _ENVELOPE} or None
