"""The model calls of a Claude Code session.

Claude Code writes one answer over several lines, about one line per block, all with the same `message.id`. The usage
grows from line to line because it is written while the answer streams in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.formats.claude_code.lines import identity, stem, type_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.session_builder import Ids
from timemachine.recording.importing.pure.values import list_at, record_at, text_at, text_of_content
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import CACHED_FOR_AN_HOUR

_SYNTHETIC = "<synthetic>"
_MOST_TOKENS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One answer of the model.

    `id` is the client id of its action. `added` lists, by line number, the blocks that a line added, each with its
    place in that line, from 1.
    """

    id: str
    lines: tuple[Line, ...]
    added: dict[int, list[tuple[int, Any]]]


def calls_of(lines: Sequence[Line], ids: Ids) -> dict[int, Call]:
    """Return the call of each assistant line, by line number. A line without a message id is a call of its own."""
    groups: dict[str | int, list[Line]] = {}
    for line in lines:
        if line.record["type"] == "assistant" and record_at(line.record, "message"):
            groups.setdefault(text_at(record_at(line.record, "message"), "id") or line.number, []).append(
                line
            )
    calls = [
        Call(id=ids.claim(identity(group[0])), lines=tuple(group), added=_added(group))
        for group in groups.values()
    ]
    return {line.number: call for call in calls for line in call.lines}


def call_actions(line: Line, call: Call, ids: Ids) -> Iterator[ActionDraft]:
    """Yield what one line of a call becomes: the call itself if it is its first line, then a child for each block it added."""
    if line is call.lines[0]:
        yield _call_action(call)
    for place, block in call.added[line.number]:
        yield replace(_child(stem(line), block), id=ids.claim(f"{identity(line)}/{place}"), parent=call.id)


def _added(group: Sequence[Line]) -> dict[int, list[tuple[int, Any]]]:
    """Skip blocks that an earlier line of the answer has: some versions repeat the complete answer."""
    seen: set[bytes] = set()
    added = {}
    for line in group:
        blocks = [(place, block, canonical_json(block)) for place, block in enumerate(_blocks(line), start=1)]
        added[line.number] = [(place, block) for place, block, written in blocks if written not in seen]
        seen.update(written for _, _, written in blocks)
    return added


def _blocks(line: Line) -> list[Any]:
    message = record_at(line.record, "message")
    if isinstance(message.get("content"), str):
        return [{"type": "text", "text": message["content"]}]
    return list_at(message, "content")


def _call_action(call: Call) -> ActionDraft:
    messages = [record_at(line.record, "message") for line in call.lines]
    blocks = [block for line in call.lines for _, block in call.added[line.number]]
    models = [model for message in messages if (model := text_at(message, "model"))]
    stop_reasons = [reason for message in messages if (reason := text_at(message, "stop_reason"))]
    usage = _final_usage(messages)
    cached_for_an_hour = _tokens(record_at(usage, "cache_creation"), "ephemeral_1h_input_tokens")
    failure = next((line.record for line in call.lines if _failed(line)), None)
    return replace(
        stem(call.lines[0]),
        kind="llm_call",
        id=call.id,
        layer="agent",
        role="agent",
        name=None,
        model=f"anthropic:{models[0]}" if models and models[0] != _SYNTHETIC else None,
        usage=None if usage is None else _usage(usage),
        parameters={CACHED_FOR_AN_HOUR: cached_for_an_hour} if cached_for_an_hour else None,
        output={"content": blocks, "stop_reason": stop_reasons[-1] if stop_reasons else None},
        error_type=None if failure is None else text_at(failure, "error") or "api_error",
        error_message=None if failure is None else text_of_content(blocks),
        source=[line.record for line in call.lines],
    )


def _failed(line: Line) -> bool:
    """Claude Code answers as `<synthetic>` when the API failed; it sets `isApiErrorMessage` to false if nothing failed."""
    flag = line.record.get("isApiErrorMessage")
    return flag is True or (
        record_at(line.record, "message").get("model") == _SYNTHETIC and flag is not False
    )


def _final_usage(messages: Sequence[JsonObject]) -> JsonObject | None:
    """Return the usage with the most output tokens, the later of two equal ones."""
    recorded = [found for message in messages if isinstance(found := message.get("usage"), dict)]
    return max(reversed(recorded), key=lambda usage: _tokens(usage, "output_tokens") or 0, default=None)


def _usage(recorded: JsonObject) -> Usage:
    """Return the tokens. Anthropic does not include those read from or written to the cache in `input_tokens`; we do."""
    fresh, output = _tokens(recorded, "input_tokens"), _tokens(recorded, "output_tokens")
    read, written = (
        _tokens(recorded, "cache_read_input_tokens"),
        _tokens(recorded, "cache_creation_input_tokens"),
    )
    all_read = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(
        input_tokens=all_read,
        output_tokens=output,
        total_tokens=None if all_read is None or output is None else all_read + output,
        cached_tokens=read,
        cache_write_tokens=written,
    )


def _tokens(usage: JsonObject, name: str) -> int | None:
    found = usage.get(name)
    counts = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST_TOKENS
    return found if counts else None


def _child(base: ActionDraft, block: Any) -> ActionDraft:
    message = replace(base, kind="message", layer="agent", role="agent", name=None)
    thought = replace(message, name="thinking", tags=(*base.tags, "thinking"))
    match block:
        case {"type": "text", "text": str(text)}:
            return replace(message, output=text)
        case {"type": "thinking", "thinking": str(text)}:
            return replace(thought, output=text)
        case {"type": "thinking" | "redacted_thinking"}:
            return replace(thought, output=block)
        case {"type": "tool_use"}:
            return replace(
                base,
                kind="tool_call",
                layer="tool",
                role="agent",
                name=None,
                tool=text_at(block, "name"),
                call_id=text_at(block, "id"),
                input=block.get("input"),
            )
    return replace(base, layer="agent", role="agent", name=type_of(block), output=block)
