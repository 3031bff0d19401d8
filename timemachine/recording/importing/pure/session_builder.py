"""Sessions and actions in the making, as every format needs it: ids, results under their calls, names and times. Pure."""

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

_NOBODY_WROTE: Final = frozenset({"meta", "command"})


class Ids:
    """The client ids of one session: each is what was asked for, with `~2`, `~3` … after it where that is taken."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def claim(self, wanted: str) -> str:
        """An id that no other action of the session has."""
        given = wanted
        while given in self._times:
            self._times[wanted] += 1
            given = f"{wanted}~{self._times[wanted]}"
        self._times[given] = 1
        return given


class Keys:
    """The keys of one file's sessions. A record that stands there twice is two sessions, `….2` the second."""

    def __init__(self, format_name: str) -> None:
        self._format_name = format_name
        self._times: Counter[str] = Counter()

    def of(self, recorded: str | None, record: Any) -> str:
        """The recorded id; where there is none, the format's name and 12 hex digits of the record's SHA-256."""
        wanted = key_of(recorded or "", self._format_name) if recorded else self._digest(record)
        self._times[wanted] += 1
        times = self._times[wanted]
        return wanted if times == 1 else key_of(f"{wanted}.{times}", self._format_name)

    def _digest(self, record: Any) -> str:
        return f"{self._format_name}-{sha256_hex(canonical_json(record))[:12]}"


def linked(actions: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Each result under its call: the latest call with that id before it, else the first after it; it has the call's tool."""
    every = list(actions)
    made = [action for action in every if action.kind == "tool_call" and action.call_id]
    calls = {action.call_id: action for action in reversed(made)}
    found = []
    for action in every:
        call = calls.get(action.call_id)
        if action.kind == "tool_result" and action.call_id and call is not None:
            found.append(replace(action, parent=call.id, tool=call.tool or action.tool))
            continue
        if action.kind == "tool_call" and action.call_id:
            calls[action.call_id] = action
        found.append(action)
    return found


def first_words(actions: Iterable[ActionDraft]) -> str | None:
    """The first text that a person wrote, on one line; text that was put into a person's mouth is tagged and passed over."""
    for action in actions:
        wrote = (action.kind, action.role) == ("message", "user") and not _NOBODY_WROTE & set(action.tags)
        if wrote and isinstance(action.output, str) and (words := shortened(action.output)):
            return words
    return None


def session_of(  # one argument for each thing that formats record
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
    """The session of these actions. It runs from its earliest time to its latest, the ends of its actions counted in."""
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


def marked(name: str, record: Any) -> str:
    """The name with 8 hex digits of the record: two records that were given one name are two actions, and one that is there is one."""
    return f"{name}-{sha256_hex(canonical_json(record))[:8]}"


def only_object(value: Any, title: str) -> dict[str, Any]:
    """The document as an object. Raises `InvalidInput` (`unknown_format`) for another."""
    if isinstance(value, dict):
        return value
    raise hopeless(title, "it is JSON but not an object.")


def hopeless(title: str, found: str) -> InvalidInput:
    """The refusal of a file in which nothing can be used."""
    return InvalidInput(
        f"Nothing of this file can be read; send {title}. What was found: {found}", code="unknown_format"
    )


def _ends(actions: Iterable[ActionDraft]) -> Iterable[datetime]:
    for action in actions:
        if action.started_at is not None and action.duration_ms is not None:
            yield action.started_at + timedelta(milliseconds=action.duration_ms)
