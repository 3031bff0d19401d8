"""Drafts of sessions and actions: ids, results under their calls, names and times."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.names import shortened
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft

_COMMAND: Final = re.compile(r"\s*/[\w:.-]{1,80}\s*")
_INJECTED_TAGS: Final = frozenset({"meta", "command"})


class Ids:
    """Hands out the client ids of a session. If an id is taken, `~2`, `~3`, … is appended."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def claim(self, client_id: str) -> str:
        """Return an id that no other action of the session has."""
        given = client_id
        while given in self._times:
            self._times[client_id] += 1
            given = f"{client_id}~{self._times[client_id]}"
        self._times[given] = 1
        return given


def id_with_digest(name: str, record: Any) -> str:
    """Return the name with 8 hex digits of the record's SHA-256, so that two records with the same name get different
    ids, and the same record always gets the same one."""
    return f"{name}-{sha256_hex(canonical_json(record))[:8]}"


def system_event(name: str, client_id: str, source: Any, output: Any) -> ActionDraft:
    """Return an event of the system, such as the one for the rest of a file."""
    return ActionDraft(
        kind="event", layer="sys", role="system", name=name, id=client_id, source=source, output=output
    )


def tool_call(base: ActionDraft, *, tool: str | None, call_id: str | None, given: Any) -> ActionDraft:
    """Return the action as the agent's call of a tool."""
    return replace(
        base,
        kind="tool_call",
        layer="tool",
        role="agent",
        name=None,
        tool=tool,
        call_id=call_id,
        input=given,
    )


def tool_result(
    base: ActionDraft,
    *,
    tool: str | None = None,
    call_id: str | None,
    output: Any,
    error_type: str | None = None,
    error_message: str | None = None,
) -> ActionDraft:
    """Return the action as what a tool answered."""
    return replace(
        base,
        kind="tool_result",
        layer="tool",
        role="tool",
        name=None,
        tool=tool,
        call_id=call_id,
        output=output,
        error_type=error_type,
        error_message=error_message,
    )


def call_and_result(both: ActionDraft, ids: Ids) -> list[ActionDraft]:
    """Return the call and, if it has an output or failed, its result under it, from a record that holds both."""
    both = replace(both, kind="tool_call", layer="tool", name=None, tool=both.name)
    call = replace(both, output=None, error_type=None, error_message=None)
    if both.output is None and both.error_type is None:
        return [call]
    result = replace(
        both,
        kind="tool_result",
        id=ids.claim(f"{both.id}/result"),
        role="tool",
        parent=both.id,
        started_at=None,
        duration_ms=None,
        input=None,
        source=None,
    )
    return [call, result]


def link_results(actions: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Return the actions with each result placed under its call: the latest call with that id before it, else the first
    after it.

    A result takes over the tool of its call.
    """
    every = list(actions)
    with_id = [action for action in every if action.kind == "tool_call" and action.call_id]
    calls = {action.call_id: action for action in reversed(with_id)}
    linked = []
    for action in every:
        call = calls.get(action.call_id)
        if action.kind == "tool_result" and action.call_id and call is not None:
            linked.append(replace(action, parent=call.id, tool=call.tool or action.tool))
            continue
        if action.kind == "tool_call" and action.call_id:
            calls[action.call_id] = action
        linked.append(action)
    return linked


def in_sequence(
    records: Sequence[JsonObject], number: Callable[[JsonObject], int | None]
) -> list[JsonObject]:
    """Return the records sorted by their numbers; a record without a number keeps its place."""
    numbered = [(place, each) for each in records if (place := number(each)) is not None]
    ordered = iter(sorted(numbered, key=lambda each: each[0]))
    return [each if number(each) is None else next(ordered)[1] for each in records]


def beginning_until(
    records: Sequence[JsonObject], is_unique: Callable[[JsonObject], bool]
) -> Sequence[JsonObject]:
    """Return the records up to the first unique one, which stay the same while their session grows; none if none is."""
    return next((records[:place] for place, each in enumerate(records, start=1) if is_unique(each)), ())


def first_words(actions: Iterable[ActionDraft]) -> str | None:
    """Return the first text that a person wrote, on one line, and no bare command to the tool such as `/mode`. Text that a tool
    inserted as the user's is tagged and skipped."""
    wrote = (text for action, text in _of_user(actions) if not _INJECTED_TAGS & set(action.tags))
    return next(filter(None, (shortened(text) for text in wrote if not _COMMAND.fullmatch(text))), None)


def first_command(actions: Iterable[ActionDraft]) -> str | None:
    """Return the first bare command to the tool that a person wrote, such as `/mode`."""
    return next((text.strip() for _, text in _of_user(actions) if _COMMAND.fullmatch(text)), None)


def _of_user(actions: Iterable[ActionDraft]) -> Iterator[tuple[ActionDraft, str]]:
    for action in actions:
        if (action.kind, action.role) == ("message", "user") and isinstance(action.output, str):
            yield action, action.output


def session_draft(  # one argument per recorded property
    key: str,
    actions: Sequence[ActionDraft],
    *,
    name: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    metadata: JsonObject | None = None,
    forked_from: str | None = None,
) -> SessionDraft:
    """Return the session of these actions. It starts at the earliest time and ends at the latest of its actions, including
    their ends, or at `ended_at`. Its start alone does not tell when it ended. Copied actions are part of another session's
    time."""
    own = [action for action in actions if action.copied_from is None]
    times = [action.started_at for action in own if action.started_at is not None]
    ends = [
        action.started_at + timedelta(milliseconds=action.duration_ms)
        for action in own
        if action.started_at is not None and action.duration_ms is not None
    ]
    if ended_at is not None:
        ends.append(ended_at)
    starts = [*times, *ends] if started_at is None else [started_at, *times, *ends]
    command = first_command(actions)
    return SessionDraft(
        key=key,
        name=(shortened(name) if name else None) or first_words(actions) or command or key,
        earlier_names=(key, *filter(None, [command])),
        agent=agent,
        user=user,
        started_at=min(starts, default=None),
        ended_at=max([*times, *ends], default=None),
        metadata={word: value for word, value in (metadata or {}).items() if value is not None},
        actions=tuple(actions),
        forked_from=forked_from,
    )
