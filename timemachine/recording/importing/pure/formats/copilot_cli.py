"""Sessions of GitHub Copilot CLI: `events.jsonl`, one event `{type, id, timestamp, parentId, data}` per line.

The events are those of https://github.com/github/copilot-sdk (`session-events.ts`). A message states the tokens that
it wrote; the others are stated per model when the session ends, so they belong to that event. The cost is stated in
premium requests, not in dollars.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import (
    Ids,
    link_results,
    session_draft,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import model_turn, speaker, thought, written
from timemachine.recording.importing.pure.reader import Opening, Reader, identity_by_id
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    milliseconds_between,
    moment,
    record_at,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import SETTINGS

NAME: Final = "copilot_cli"
TITLE: Final = "GitHub Copilot CLI session (events.jsonl)"
_AGENT: Final = "copilot-cli"
_START: Final = "session.start"
_MESSAGE: Final = "assistant.message"
_CALLED: Final = "tool.execution_start"
_ANSWERED: Final = "tool.execution_complete"
_SHUTDOWN: Final = "session.shutdown"
_TYPES: Final = frozenset({_START, _MESSAGE, _CALLED, _ANSWERED, _SHUTDOWN, "user.message", "session.resume"})
_ERRORS: Final = ("error", "failed", "failure")
_COUNTS: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cached_tokens": "cacheReadTokens",
    "cache_write_tokens": "cacheWriteTokens",
    "reasoning_tokens": "reasoningTokens",
}


@dataclass(slots=True, kw_only=True)
class _State:
    """What earlier lines said: the model, the names of sub-agents by the call that started them, who made and when
    began each call, and the tokens written since the last shutdown."""

    called: frozenset[str]
    model: str | None = None
    sub_agents: dict[str, str] = field(default_factory=dict)
    asked_by: dict[str, str | int | None] = field(default_factory=dict)
    began: dict[str, datetime | None] = field(default_factory=dict)
    written: int = 0


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines is an event of Copilot CLI."""
    return any(map(_is_known, opening.lines))


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if no line can be used."""
    lines = reader.lines(
        _is_event, "It is not an event: it has no `type` and `data`.", identity=identity_by_id
    )
    start = next((record_at(line.record, "data") for line in lines if line.record["type"] == _START), {})
    shutdowns = [record_at(line.record, "data") for line in lines if line.record["type"] == _SHUTDOWN]
    requests = [count for each in shutdowns if (count := count_at(each, "totalPremiumRequests")) is not None]
    ids = Ids()
    actions = list(_all_actions(lines, ids))
    context = record_at(start, "context")
    session = session_draft(
        reader.key(short_text_at(start, "sessionId"), lines[0].record),
        link_results(actions),
        agent=_AGENT,
        started_at=moment(start.get("startTime")),
        metadata={
            "copilot_version": text_at(start, "copilotVersion"),
            "premium_requests": sum(requests) if requests else None,
            **{name: text_at(context, name) for name in ("cwd", "gitRoot", "branch", "repository")},
        },
    )
    return reader.parsed([session])


def _is_event(record: JsonObject) -> bool:
    return isinstance(record.get("type"), str) and isinstance(record.get("data"), dict)


def _is_known(record: JsonObject) -> bool:
    return _is_event(record) and record["type"] in _TYPES and "id" in record


def _all_actions(lines: Sequence[Line], ids: Ids) -> Iterator[ActionDraft]:
    called = (text_at(line.record["data"], "toolCallId") for line in lines if line.record["type"] == _CALLED)
    state = _State(called=frozenset(each for each in called if each))
    for line in lines:
        yield from _line_actions(line, state, ids)


def _line_actions(line: Line, state: _State, ids: Ids) -> list[ActionDraft]:
    record, data = line.record, line.record["data"]
    kind = record["type"]
    state.model = short_text_at(data, "newModel", "selectedModel") or state.model
    inside = text_at(data, "parentToolCallId") or ""
    base = ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(record, "id") or f"line-{line.digest[:16]}"),
        layer="sys",
        role="system",
        agent=state.sub_agents.get(inside) or short_text_at(record, "agentId") or _AGENT,
        name=kind[:80],
        started_at=moment(record.get("timestamp")),
        source=record,
    )
    if kind == _MESSAGE:
        return _message(base, data, state, ids)
    if kind in (_CALLED, _ANSWERED):
        return [_called(base, data, state) if kind == _CALLED else _answered(base, data, state)]
    if kind in ("user.message", "system.message"):
        return [_spoken(base, kind.partition(".")[0], data)]
    return [_event(base, kind, data, state)]


def _spoken(base: ActionDraft, role: str, data: JsonObject) -> ActionDraft:
    """Return what the user wrote; a message without it is one that Copilot inserted (tagged `meta`)."""
    own = data.get("content")
    inserted = role == "user" and not own
    return replace(
        speaker(role, base),
        agent=None,
        tags=("meta",) if inserted else (SETTINGS,) if role == "system" else (),
        output=data.get("transformedContent", own) if inserted else own,
    )


def _message(base: ActionDraft, data: JsonObject, state: _State, ids: Ids) -> list[ActionDraft]:
    requests = [each for each in list_at(data, "toolRequests") if isinstance(each, dict)]
    output = count_at(data, "outputTokens")
    state.written += output or 0
    call = replace(
        speaker("agent", base),
        kind="llm_call",
        model=short_text_at(data, "model") or state.model,
        usage=None if output is None else Usage(output_tokens=output),
        output=written(content=data.get("content"), tool_requests=requests),
    )
    for each in requests:
        state.asked_by[text_at(each, "toolCallId") or ""] = base.id
    return model_turn(call, _parts(speaker("agent", base), data, requests, state), ids)


def _parts(
    stem: ActionDraft, data: JsonObject, requests: Sequence[JsonObject], state: _State
) -> Iterator[ActionDraft]:
    if (reasoning := text_at(data, "reasoningText")) is not None:
        yield thought(stem, reasoning)
    if (content := text_at(data, "content")) is not None:
        yield replace(stem, output=content)
    for each in requests:
        call_id = short_text_at(each, "toolCallId")
        if call_id not in state.called:
            yield tool_call(
                stem, tool=short_text_at(each, "name"), call_id=call_id, given=each.get("arguments")
            )


def _called(base: ActionDraft, data: JsonObject, state: _State) -> ActionDraft:
    call_id = short_text_at(data, "toolCallId")
    tool = short_text_at(data, "toolName")
    state.began[call_id or ""] = base.started_at
    call = tool_call(base, tool=tool, call_id=call_id, given=data.get("arguments"))
    return replace(call, parent=state.asked_by.get(call_id or ""))


def _answered(base: ActionDraft, data: JsonObject, state: _State) -> ActionDraft:
    call_id = short_text_at(data, "toolCallId")
    failure = record_at(data, "error")
    failed = data.get("success") is False or bool(failure)
    began = state.began.get(call_id or "")
    result = data.get("result")
    content = result.get("content", result) if isinstance(result, dict) else result
    return tool_result(
        replace(
            base,
            started_at=began or base.started_at,
            duration_ms=milliseconds_between(began, base.started_at),
        ),
        tool=short_text_at(data, "toolName"),
        call_id=call_id,
        output=content,
        error_type=(short_text_at(failure, "code") or "tool_error") if failed else None,
        error_message=text_at(failure, "message") if failed else None,
    )


def _event(base: ActionDraft, kind: str, data: JsonObject, state: _State) -> ActionDraft:
    if kind == "subagent.started" and (call_id := text_at(data, "toolCallId")) is not None:
        state.sub_agents[call_id] = short_text_at(data, "agentName") or call_id[:80]
    failed = kind.endswith(_ERRORS)
    usage = None
    if kind == _SHUTDOWN:
        usage = _remaining(record_at(data, "modelMetrics"), state.written)
        state.written = 0
    return replace(
        base,
        output=data,
        usage=usage,
        error_type=(short_text_at(data, "errorType", "code") or kind[:80]) if failed else None,
        error_message=text_at(data, "message", "error") if failed else None,
    )


def _remaining(models: Mapping[str, Any], stated: int) -> Usage | None:
    """Return the tokens of all models without those written that messages state."""
    usages = [record_at(each, "usage") for each in models.values()]
    counts: dict[str, int | None] = {}
    for name, recorded in _COUNTS.items():
        known = [count for each in usages if (count := count_at(each, recorded)) is not None]
        counts[name] = sum(known) if known else None
    if counts["output_tokens"] is not None:
        counts["output_tokens"] = max(counts["output_tokens"] - stated, 0)
    found = Usage(**counts)
    return None if found == Usage() else found
