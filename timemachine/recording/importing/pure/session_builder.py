"""Build sessions and actions: ids, results under their calls, names and times."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.report import NAME_LENGTH, SessionDraft, shortened
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of

_INJECTED_TAGS: Final = frozenset({"meta", "command"})


class Ids:
    """Hands out the client ids of a session. If an id is taken, `~2`, `~3`, … is appended."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def claim(self, wanted: str) -> str:
        """Return an id that no other action of the session has."""
        given = wanted
        while given in self._times:
            self._times[wanted] += 1
            given = f"{wanted}~{self._times[wanted]}"
        self._times[given] = 1
        return given


class Keys:
    """Hands out the keys of a file's sessions. If a session occurs twice, the second key ends in `.2`."""

    def __init__(self, format_name: str) -> None:
        self._format_name = format_name
        self._times: Counter[str] = Counter()

    def of(self, recorded: str | None, record: Any) -> str:
        """Return the recorded id, or if there is none the format's name and 12 hex digits of the record's SHA-256."""
        wanted = key_of(recorded or "", self._format_name) if recorded else self._digest(record)
        self._times[wanted] += 1
        times = self._times[wanted]
        return wanted if times == 1 else key_of(f"{wanted}.{times}", self._format_name)

    def _digest(self, record: Any) -> str:
        return f"{self._format_name}-{sha256_hex(canonical_json(record))[:12]}"


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


def first_words(actions: Iterable[ActionDraft]) -> str | None:
    """Return the first text that a person wrote, on one line. Text that a tool inserted as the user's is tagged and skipped."""
    for action in actions:
        wrote = (action.kind, action.role) == ("message", "user") and not _INJECTED_TAGS & set(action.tags)
        if wrote and isinstance(action.output, str) and (words := shortened(action.output)):
            return words
    return None


def session_draft(  # one argument per recorded property
    key: str,
    actions: Sequence[ActionDraft],
    *,
    name: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    metadata: dict[str, Any] | None = None,
    tags: Sequence[str] = (),
    forked_from: str | None = None,
) -> SessionDraft:
    """Return the session of these actions. It lasts from the earliest time to the latest, including the ends of actions."""
    starts = [action.started_at for action in actions if action.started_at is not None]
    starts += [each for each in (started_at, ended_at) if each is not None]
    return SessionDraft(
        key=key,
        name=(shortened(name, NAME_LENGTH) if name else None) or first_words(actions) or key,
        agent=agent,
        user=user,
        started_at=min(starts, default=None),
        ended_at=max([*starts, *_ends(actions)], default=None),
        metadata={word: value for word, value in (metadata or {}).items() if value is not None},
        tags=tuple(tags),
        actions=tuple(actions),
        forked_from=forked_from,
    )


def id_with_digest(name: str, record: Any) -> str:
    """Return the name with 8 hex digits of the record's SHA-256, so that two records with the same name get different
    ids, and the same record always gets the same one."""
    return f"{name}-{sha256_hex(canonical_json(record))[:8]}"


def require_object(value: Any, title: str) -> dict[str, Any]:
    """Return the document if it is an object. Raises `InvalidInput` (`unknown_format`) otherwise."""
    if isinstance(value, dict):
        return value
    raise unreadable_file(title, "it is JSON but not an object.")


def unreadable_file(title: str, problem: str) -> InvalidInput:
    """Return the error for a file in which nothing can be used. `problem` ends its last sentence."""
    return InvalidInput(
        f"Nothing in this file can be imported. Expected {title}. Found: {problem}", code="unknown_format"
    )


def _ends(actions: Iterable[ActionDraft]) -> Iterable[datetime]:
    for action in actions:
        if action.started_at is not None and action.duration_ms is not None:
            yield action.started_at + timedelta(milliseconds=action.duration_ms)
