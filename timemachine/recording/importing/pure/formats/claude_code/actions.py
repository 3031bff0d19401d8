"""What the lines of one Claude Code session become.

user line             a `message` for each text, image or document; a `tool_result` for each result
    assistant lines       one `llm_call` per message id, and a child for each block (see `calls`)
    any other line        an `event` named by its type

Content is in `output`, whoever wrote it. The lines are stored in `source`: for an `llm_call` the list of its lines,
for any other action its line. If one line becomes several actions, the first one has it and the others have None.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.formats.claude_code.calls import Call, call_actions, calls_of
from timemachine.recording.importing.pure.formats.claude_code.lines import identity, stem, type_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.session_builder import Ids, link_results
from timemachine.recording.importing.pure.values import record_at, text_at, text_of_content
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
    """Return the actions of one session's lines, in order; a call takes the place of its first line.

    Durations are not recorded: the time between a call and its result includes the user's hesitation.
    """
    ids = Ids()
    calls = calls_of(lines, ids)
    made = [action for line in lines for action in _line_actions(line, calls.get(line.number), ids)]
    return tuple(link_results(made))


def _line_actions(line: Line, call: Call | None, ids: Ids) -> Iterable[ActionDraft]:
    if call is not None:
        return call_actions(line, call, ids)
    content = record_at(line.record, "message").get("content")
    if line.record["type"] == "user" and isinstance(content, str):
        return [replace(_text(stem(line), content), id=ids.claim(identity(line)), source=line.record)]
    if line.record["type"] == "user" and isinstance(content, list) and content:
        return _user_actions(line, content, ids)
    return [replace(stem(line), id=ids.claim(identity(line)), output=_body(line.record), source=line.record)]


def _user_actions(line: Line, blocks: Sequence[Any], ids: Ids) -> Iterator[ActionDraft]:
    base = stem(line)
    for place, block in enumerate(blocks, start=1):
        source = line.record if place == 1 else None
        yield replace(_block_action(base, block), id=ids.claim(f"{identity(line)}/{place}"), source=source)


def _block_action(base: ActionDraft, block: Any) -> ActionDraft:
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


def _result(base: ActionDraft, block: JsonObject) -> ActionDraft:
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
        error_message=text_of_content(content) if failed else None,
    )


def _body(record: JsonObject) -> Any:
    """Return a line's content, summary or snapshot; otherwise everything but the fields that all lines have."""
    for name in _CONTENT:
        if name in record:
            return record[name]
    return {name: value for name, value in record.items() if name not in _ENVELOPE} or None
