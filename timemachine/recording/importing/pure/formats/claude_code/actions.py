"""What the lines of one Claude Code session become.

    user line             a `message` for each text, image or document; a `tool_result` for each result
    assistant lines       one `llm_call` per message id, and a child for each block
    queued prompt         a `message` of the user, once, wherever it is written
    lines of a request    no action of their own, but part of their answer's `llm_call`: see `requests`
    any other line        an `event` named by its type

Claude Code writes one answer over several lines, about one line per block, all with the same `message.id`. The usage
grows from line to line because it is written while the answer streams in. Early versions wrote the cost of the answer
to each of its lines, as `costUSD`.

Steps of sub-agents are under the call that started them. The prompt of a sub-agent is by the agent, not by the user. Steps of
turns that the user went back behind have the tag `rewound`, prompts that were typed ahead the tag `queued`.

Content is in `output`, whether a person or the model wrote it. The lines are stored in `source`: for an `llm_call` the list of its lines,
those of its request first, for any other action its line. If one line becomes several actions, the first one has it and the others have None.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import price_conditions
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import Ids, link_results, tool_call, tool_result
from timemachine.recording.importing.pure.formats.claude_code.answers import (
    added_blocks,
    final_usage,
    tokens_of,
)
from timemachine.recording.importing.pure.formats.claude_code.branches import rewound_in
from timemachine.recording.importing.pure.formats.claude_code.ids import id_at
from timemachine.recording.importing.pure.formats.claude_code.queue import (
    Queued,
    is_by_a_person,
    queued_in,
    tag_of,
)
from timemachine.recording.importing.pure.formats.claude_code.requests import (
    SHAPE,
    parameters_of,
    requests_in,
    settings_again,
    settings_in,
)
from timemachine.recording.importing.pure.formats.claude_code.sub_agents import (
    AGENT_ID,
    SubAgents,
    anchors,
    awaited_calls,
    sub_agents_in,
    under_their_calls,
)
from timemachine.recording.importing.pure.values import (
    dollars,
    moment,
    record_at,
    text_at,
    text_of_content,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of
from timemachine.recording.sessions.pure.vocabulary import COMPACTION, SETTINGS

AGENT: Final = "claude-code"
FORMAT: Final = "claude_code"
MESSAGE_ID: Final = "message_id"
_LONGEST_UUID = 150
_SYNTHETIC = "<synthetic>"
_ENVELOPE = {
    "type", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "isSidechain", "userType", "cwd", "version",
    "gitBranch",
}  # fmt: skip
_CONTENT = ("content", "summary", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One answer of the model.

    `id` is the client id of its action. `added` lists, by line number, the blocks that a line added, each with its
    place in that line, from 1. `request` are the lines that state the request,
    `settings` what it has and no line before it states.
    """

    id: str
    lines: tuple[Line, ...]
    request: tuple[Line, ...]
    settings: JsonObject | None
    added: dict[int, list[tuple[int, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What the lines of a session say about each other, and the ids that its actions have so far."""

    sub_agents: SubAgents
    queued: Queued
    rewound: frozenset[int]
    ids: Ids

    def stem(self, line: Line) -> ActionDraft:
        """Return the fields that all actions of a line share, as an `event` of the system named by the line's type."""
        record = line.record
        sub_agent = self.sub_agents.name_at(line)
        # A compaction summary or a notification appears as the user's message, but the user did not write it.
        is_meta = record.get("isMeta") is True or record.get("isCompactSummary") is True
        tags = {
            "sidechain": sub_agent is not None,
            "meta": is_meta or not is_by_a_person(record),
            "rewound": line.number in self.rewound,
            "queued": line.number in self.queued.delivered,
            COMPACTION: record.get("isCompactSummary") is True,
        }
        return ActionDraft(
            kind="event",
            layer="sys",
            role="system",
            agent=sub_agent or AGENT,
            name=record["type"],
            tags=tuple(tag for tag, is_so in tags.items() if is_so),
            started_at=moment_of(line),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The actions of a session, in order, and what links them to its other files: see `SessionDraft`."""

    actions: tuple[ActionDraft, ...]
    anchors: tuple[ActionDraft, ...]
    awaited_calls: Mapping[str, JsonObject]


def actions_of(lines: Sequence[Line]) -> Made:
    """Return the actions of one session's lines; a call is at the position of its first line.

    Durations are not recorded: the time between a call and its result includes the user's hesitation.
    """
    session = _Session(
        sub_agents=sub_agents_in(lines), queued=queued_in(lines), rewound=rewound_in(lines), ids=Ids()
    )
    calls = _calls_of(lines, session.ids)
    asking = {line.number for call in calls.values() for line in call.request}
    made = [
        _marked(action, line)
        for line in lines
        if line.number not in asking
        for action in _line_actions(line, calls.get(line.number), session)
    ]
    linked = under_their_calls(link_results(made), session.sub_agents)
    return Made(
        actions=tuple(linked),
        anchors=anchors(linked, session.sub_agents),
        awaited_calls=awaited_calls(linked, session.sub_agents),
    )


def _line_actions(line: Line, call: _Call | None, session: _Session) -> Iterable[ActionDraft]:
    if call is not None:
        return _call_actions(line, call, session)
    queued = session.queued
    said = queued.delivered.get(line.number)
    if line.record["type"] == "user" and line.number not in queued.repeated:
        said = record_at(line.record, "message").get("content")
    if isinstance(said, str):
        return [_whole(_text(session.stem(line), said), line, session)]
    if isinstance(said, list) and said:
        return _block_actions(line, said, session)
    settings = settings_in(line.record)
    if settings is not None:
        return [_whole(_stating(session.stem(line), settings), line, session)]
    event = _whole(replace(session.stem(line), output=_body(line.record)), line, session)
    if line.number not in queued.only_here:
        return [event]
    return [event, *_prompt_actions(event, queued.only_here[line.number], session)]


def _stating(base: ActionDraft, settings: JsonObject) -> ActionDraft:
    return replace(base, output=settings, tags=(*base.tags, SETTINGS))


def _marked(action: ActionDraft, line: Line) -> ActionDraft:
    """Return the action as a copy if its line names the line of another session that it was copied from."""
    forked = origin_of(line)
    if forked is None or action.id is None:
        return action
    session, uuid = forked
    step = None if uuid is None else uuid + action.id.removeprefix(_identity(line))
    return replace(action, copied_from={"session": session, "step": step})


def origin_of(line: Line) -> tuple[str, str | None] | None:
    """Return the key of the session that a line was copied from, and the line's uuid there. Forking writes `forkedFrom`."""
    forked = record_at(line.record, "forkedFrom")
    session = text_at(forked, "sessionId")
    if session is None:
        return None
    uuid = text_at(forked, "messageUuid")
    return key_of(session, FORMAT), uuid if uuid and len(uuid) <= _LONGEST_UUID else None


def _whole(action: ActionDraft, line: Line, session: _Session) -> ActionDraft:
    """Return the action of a line that becomes one action."""
    return replace(action, id=session.ids.claim(_identity(line)), source=line.record)


def _block_actions(line: Line, blocks: Sequence[Any], session: _Session) -> Iterator[ActionDraft]:
    base = session.stem(line)
    for place, block in enumerate(blocks, start=1):
        source = line.record if place == 1 else None
        client_id = session.ids.claim(f"{_identity(line)}/{place}")
        made = _block_action(base, block)
        started = session.sub_agents.started_with(made.call_id) if made.kind == "tool_result" else None
        yield replace(made, id=client_id, source=source, metadata={AGENT_ID: started} if started else None)


def _prompt_actions(event: ActionDraft, prompt: Any, session: _Session) -> Iterator[ActionDraft]:
    """Yield the messages of a queued prompt after the event of the line that took it from the queue."""
    base = replace(event, tags=(*event.tags, "queued"), source=None)
    for place, block in enumerate(prompt if isinstance(prompt, list) else [prompt], start=1):
        made = _text(base, block) if isinstance(block, str) else _block_action(base, block)
        yield replace(made, id=session.ids.claim(f"{event.id}/prompt-{place}"))


def _block_action(base: ActionDraft, block: Any) -> ActionDraft:
    match block:
        case {"type": "text", "text": str(text)}:
            return _text(base, text)
        case {"type": "image" | "document"}:
            return _message(base, block)
        case {"type": "tool_result"}:
            return _result(base, block)
    return replace(base, layer="agent", role=_speaker(base), name=_type_of(block), output=block)


def _text(base: ActionDraft, text: str) -> ActionDraft:
    tags = dict.fromkeys((*base.tags, *filter(None, [tag_of(text)])))
    return _message(replace(base, tags=tuple(tags)), text)


def _message(base: ActionDraft, content: Any) -> ActionDraft:
    return replace(base, kind="message", layer="agent", role=_speaker(base), name=None, output=content)


def _speaker(base: ActionDraft) -> str:
    """Return who speaks in a line of the user: to a sub-agent it is the agent that started it."""
    return "agent" if "sidechain" in base.tags else "user"


def _result(base: ActionDraft, block: JsonObject) -> ActionDraft:
    content = block.get("content")
    failed = block.get("is_error") is True
    return tool_result(
        base,
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


def _calls_of(lines: Sequence[Line], ids: Ids) -> dict[int, _Call]:
    """Return the call of each assistant line, by line number. A line without a message id is a call of its own."""
    requests = requests_in(lines).answered
    again = dict(settings_again(lines, requests))
    groups: dict[str | int, list[Line]] = {}
    for line in lines:
        message = record_at(line.record, "message")
        if line.record["type"] == "assistant" and message:
            groups.setdefault(text_at(message, "id") or line.number, []).append(line)
    calls = [
        _Call(
            id=ids.claim(_identity(group[0])),
            lines=tuple(group),
            request=tuple(asking for line in group for asking in requests.get(line.number, ())),
            settings=next((again[line.number] for line in group if line.number in again), None),
            added=added_blocks(group),
        )
        for group in groups.values()
    ]
    return {line.number: call for call in calls for line in call.lines}


def _call_actions(line: Line, call: _Call, session: _Session) -> Iterator[ActionDraft]:
    """Yield what one line of a call becomes: the call itself if it is its first line, then a child for each block it added."""
    stem = session.stem(line)
    if line is call.lines[0]:
        if call.settings is not None:
            yield replace(
                _stating(stem, call.settings), id=session.ids.claim(f"{call.id}/settings"), name=SHAPE
            )
        yield _call_action(call, stem)
    for place, block in call.added[line.number]:
        client_id = session.ids.claim(f"{_identity(line)}/{place}")
        yield replace(_child(stem, block), id=client_id, parent=call.id)


def _call_action(call: _Call, stem: ActionDraft) -> ActionDraft:
    messages = [record_at(line.record, "message") for line in call.lines]
    blocks = [block for line in call.lines for _, block in call.added[line.number]]
    models = [model for message in messages if (model := text_at(message, "model"))]
    stop_reasons = [reason for message in messages if (reason := text_at(message, "stop_reason"))]
    usage = final_usage(messages)
    failure = next((line.record for line in call.lines if _failed(line)), None)
    return replace(
        stem,
        kind="llm_call",
        id=call.id,
        layer="agent",
        role="agent",
        name=None,
        model=f"anthropic:{models[0]}" if models and models[0] != _SYNTHETIC else None,
        metadata=_ids_of_answer(call.lines[0].record),
        usage=None if usage is None else tokens_of(usage),
        parameters={**parameters_of(call.request), **price_conditions(usage)} or None,
        cost_usd=next(
            filter(None, (dollars(line.record.get("costUSD")) for line in reversed(call.lines))), None
        ),
        output={"content": blocks, "stop_reason": stop_reasons[-1] if stop_reasons else None},
        error_type=None if failure is None else text_at(failure, "error") or "api_error",
        error_message=None if failure is None else text_of_content(blocks),
        source=[line.record for line in (*call.request, *call.lines)],
    )


def _ids_of_answer(record: JsonObject) -> JsonObject | None:
    """Return the ids that Anthropic's API gave the answer and its request, by which copies of it are recognised."""
    ids = {
        MESSAGE_ID: id_at(record_at(record, "message"), "id"),
        "request_id": id_at(record, "requestId"),
    }
    return {name: value for name, value in ids.items() if value is not None} or None


def _failed(line: Line) -> bool:
    """Claude Code answers as `<synthetic>` when the API failed; it sets `isApiErrorMessage` to false if nothing failed."""
    flag = line.record.get("isApiErrorMessage")
    return flag is True or (
        record_at(line.record, "message").get("model") == _SYNTHETIC and flag is not False
    )


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
            return tool_call(
                base, tool=text_at(block, "name"), call_id=text_at(block, "id"), given=block.get("input")
            )
    return replace(base, layer="agent", role="agent", name=_type_of(block), output=block)


def _identity(line: Line) -> str:
    """Return the line's `uuid`, or `line-` and 16 hex digits of its SHA-256.

    Line numbers cannot be used: in a resumed file the same line has another number.
    """
    uuid = text_at(line.record, "uuid")
    return uuid if uuid and len(uuid) <= _LONGEST_UUID else f"line-{line.digest[:16]}"


def moment_of(line: Line) -> datetime | None:
    """Return the line's `timestamp`, or its snapshot's; None if it has none with an offset."""
    return moment(line.record.get("timestamp")) or moment(record_at(line.record, "snapshot").get("timestamp"))


def _type_of(block: Any) -> str:
    """Return the type of a content block, or `unknown`."""
    return text_at(block, "type") or "unknown"
