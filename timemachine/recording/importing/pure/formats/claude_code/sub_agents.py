"""The sub-agents of a session: which lines are theirs, what each is called, and which call of a tool started it.

Claude Code writes a sub-agent into a file of its own, `agent-<id>.jsonl` (later in a folder `subagents`). Its lines have
`isSidechain`, the `sessionId` of the session and an `agentId`. The session's file names that id where the call of the tool
`Agent` (`Task` in earlier versions) returns, in `toolUseResult.agentId`, and while it runs in lines of type `progress`. Before
there were such files, the session's file had the lines of its sub-agents, without an id. Described in
https://github.com/daaain/claude-code-log and https://github.com/d-kimuson/claude-code-viewer, which read them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.claude_code.ids import id_at
from timemachine.recording.importing.pure.formats.claude_code.requests import is_by_sub_agent
from timemachine.recording.importing.pure.values import (
    list_at,
    record_at,
    text_at,
    text_of_content,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

_STARTING_TOOLS: Final = frozenset({"Agent", "Task"})
AGENT_ID: Final = "agent_id"
"""In the metadata of the result of a call that started a sub-agent."""
_LONGEST_TYPE: Final = 100
_NAMED_IN_RESULT: Final = re.compile(r"^agentId: ([A-Za-z0-9_-]{1,100})\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgents:
    """The sub-agents of a session. `of_line` has the key of the sub-agent of each line number; a key is an `agentId`,
    or for lines without one the number of the first line. `started_by` has the ids of the calls that started them."""

    of_line: Mapping[int, str | int]
    names: Mapping[str | int, str]
    started_by: Mapping[str | int, str]

    def started_with(self, call_id: str | None) -> str | None:
        """Return the id of the sub-agent that a call started, None if it started none or one without an id."""
        return next(
            (key for key, each in self.started_by.items() if each == call_id and isinstance(key, str)), None
        )

    def name_at(self, line: Line) -> str | None:
        """Return the name of the sub-agent that wrote the line, None if none did."""
        key = self.of_line.get(line.number)
        return None if key is None else self.names[key]


def sub_agents_in(lines: Sequence[Line]) -> SubAgents:
    """Return the sub-agents of one session's lines."""
    of_line = dict(_keys(lines))
    first = {key: line for line in reversed(lines) if (key := of_line.get(line.number)) is not None}
    keys = list(dict.fromkeys(of_line.values()))
    calls = list(_starting_calls(lines))
    started_by: dict[str | int, str] = {}
    for agent_id, call_id in _named_calls(lines, frozenset(call_id for call_id, _ in calls)):
        started_by.setdefault(agent_id, call_id)  # a later call may give the same sub-agent more work
    free = [(call_id, given) for call_id, given in calls if call_id not in started_by.values()]
    for key in keys:
        if key not in started_by:
            prompt = _prompt(first[key])
            found = next((each for each in free if prompt and each[1].get("prompt") == prompt), None)
            if found is not None:
                free.remove(found)
                started_by[key] = found[0]
    types = dict(_types(lines, of_line))
    given_of: dict[str | None, Mapping[str, Any]] = dict(calls)
    kinds: dict[str | int, str | None] = {}
    for key in keys:
        kind = types.get(key) or text_at(given_of.get(started_by.get(key)), "subagent_type")
        kinds[key] = kind if kind and len(kind) <= _LONGEST_TYPE else None
    return SubAgents(of_line=of_line, names=dict(_names(keys, kinds)), started_by=started_by)


def placeholder(agent_id: str) -> str:
    """Return the id of the step that steps of a sub-agent name as their parent while its call is unknown."""
    return f"agent-{agent_id}"


def under_their_calls(actions: Iterable[ActionDraft], found: SubAgents) -> list[ActionDraft]:
    """Return the actions with each outermost one of a sub-agent placed under the call that started the sub-agent.

    A sub-agent whose call is in another file is placed under its `placeholder`.
    """
    every = list(actions)
    ids = {each.call_id: each.id for each in reversed(every) if each.kind == "tool_call" and each.call_id}
    under = {
        name: ids.get(found.started_by.get(key, "")) or (placeholder(key) if isinstance(key, str) else None)
        for key, name in found.names.items()
    }
    return [
        replace(each, parent=under[each.agent])
        if each.parent is None and each.agent in under and under[each.agent] != each.id
        else each
        for each in every
    ]


def awaited_calls(actions: Sequence[ActionDraft], found: SubAgents) -> dict[str, JsonObject]:
    """Return, for each placeholder that actions name as their parent, the metadata of the result of the call it stands for."""
    parents = {each.parent for each in actions}
    keys = [key for key in found.names if isinstance(key, str)]
    return {placeholder(key): {AGENT_ID: key} for key in keys if placeholder(key) in parents}


def anchors(actions: Sequence[ActionDraft], found: SubAgents) -> tuple[ActionDraft, ...]:
    """Return, for each sub-agent whose id is known, a step under its call, for its file if that was imported earlier."""
    calls = {each.call_id: each for each in reversed(actions) if each.kind == "tool_call" and each.call_id}
    made = []
    for key, call_id in found.started_by.items():
        call = calls.get(call_id)
        if isinstance(key, str) and call is not None:
            made.append(
                ActionDraft(
                    kind="event",
                    id=placeholder(key),
                    layer="agent",
                    role="agent",
                    agent=call.agent,
                    name="sub-agent",
                    parent=call.id,
                    output={"agentId": key},
                )
            )
    return tuple(made)


def _keys(lines: Sequence[Line]) -> Iterator[tuple[int, str | int]]:
    """Yield the line number and the key of each line of a sub-agent."""
    of_uuid: dict[str, str | int] = {}
    latest: str | int | None = None
    for line in lines:
        if not is_by_sub_agent(line.record):
            continue
        above = of_uuid.get(text_at(line.record, "parentUuid") or "")
        own = id_at(line.record, "agentId")
        begins = line.record.get("parentUuid", 0) is None
        key = own or above or (line.number if begins or latest is None else latest)
        latest = key
        if uuid := text_at(line.record, "uuid"):
            of_uuid[uuid] = key
        yield line.number, key


def _starting_calls(lines: Sequence[Line]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id and the input of each call that starts a sub-agent."""
    for line in lines:
        for block in list_at(record_at(line.record, "message"), "content"):
            if record_at(block).get("type") == "tool_use" and block.get("name") in _STARTING_TOOLS:
                call_id = text_at(block, "id")
                if call_id is not None:
                    yield call_id, record_at(block, "input")


def _named_calls(lines: Sequence[Line], starting: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """Yield the id of each sub-agent that the session's lines name, and that of the call that they name it with."""
    for line in lines:
        progress = record_at(line.record, "data")
        if progress.get("type") == "agent_progress":
            yield from _pair(id_at(progress, "agentId"), text_at(line.record, "parentToolUseID"))
        for block in list_at(record_at(line.record, "message"), "content"):
            if record_at(block).get("type") == "tool_result":
                call_id = text_at(block, "tool_use_id")
                named = id_at(record_at(line.record, "toolUseResult"), "agentId")
                yield from _pair(named or (_named_in_text(block) if call_id in starting else None), call_id)


def _pair(agent_id: str | None, call_id: str | None) -> Iterator[tuple[str, str]]:
    if agent_id is not None and call_id is not None:
        yield agent_id, call_id


def _named_in_text(block: Any) -> str | None:
    """Return the id of the sub-agent that a line of a result's text names."""
    written = _NAMED_IN_RESULT.search(text_of_content(record_at(block).get("content")) or "")
    return written and written[1]


def _prompt(line: Line) -> str | None:
    return text_of_content(record_at(line.record, "message").get("content"))


def _types(lines: Sequence[Line], of_line: Mapping[int, str | int]) -> Iterator[tuple[str | int, str]]:
    """Yield the key and the type of each sub-agent as far as lines state it, the earliest last."""
    for line in reversed(lines):
        returned = record_at(line.record, "toolUseResult")
        agent_id, kind = text_at(returned, "agentId"), text_at(returned, "agentType")
        if agent_id and kind:
            yield agent_id, kind
        key, own = of_line.get(line.number), text_at(line.record, "attributionAgent")
        if key is not None and own:
            yield key, own


def _names(
    keys: Sequence[str | int], kinds: Mapping[str | int, str | None]
) -> Iterator[tuple[str | int, str]]:
    """Yield the name of each sub-agent: its type and its id, or if it has no id its type and a number from 2."""
    times: Counter[str] = Counter()
    for key in keys:
        kind = kinds[key]
        if isinstance(key, str):
            yield key, f"{kind or 'agent'}-{key}"
            continue
        name = kind or "sub-agent"
        times[name] += 1
        yield key, name if times[name] == 1 else f"{name}-{times[name]}"
