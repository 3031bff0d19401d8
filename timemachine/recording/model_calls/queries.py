"""Read the requests of recorded model calls: as they were recorded, or rebuilt from the steps before them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.core.payloads.queries import is_intact, value
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.model_calls.called_tools import agents_calling_in_text
from timemachine.recording.model_calls.logged_messages import events_inside, messages_in
from timemachine.recording.model_calls.pure.conversation import Conversation, RecordedStep, conversations
from timemachine.recording.model_calls.pure.requests import Circumstances, FrozenRequest, rebuilt, recorded
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.model_calls.stored_steps import (
    Row,
    StepsRead,
    ancestors,
    last_compaction,
    levels_of,
    rows_through,
    stating_rows,
    steps_of,
)
from timemachine.recording.model_calls.stored_turns import StoredTurns
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE

MODEL_CALL: Final = "llm_call"
MOST_STEPS: Final = 20_000
"""The most steps from which a conversation is rebuilt."""
MOST_PARENTS: Final = 20
READ_WHOLE: Final = 500
"""So many steps before a call are always read."""
_STEPS_OF_A_MESSAGE: Final = 5
EARLIER: Final = "session that this one continues"
_OF_STEPS: Final = ("input", "output", "name", "tool", "call_id")
_STATED: Final = ("tools", "system_instructions")
"""Parameters of an agent that are those of its calls, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """What a reader of a session may see: the steps up to one, of this session only, and of fields of steps what
    `redacted` returns."""

    through: int
    redacted: Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The steps of one session up to one. `shift` is subtracted from their numbers, so that those of the sessions that
    this one continues come before its own, as numbers up to 0."""

    session: Session
    through: int
    shift: int


def request_of(action: Action) -> FrozenRequest:
    """Return the request of a model call.

    Raises:
        InvalidInput: The step is not a model call, or its conversation is too long to be rebuilt.
    """
    _check(action)
    return next(requests_of(action.session, [action.sequence]))[1]


def latest_of_request(action: Action, messages: int) -> FrozenRequest:
    """Return the request of a model call, in a long session with only this many of its latest messages and with `since`.

    Reads as few steps as that takes.

    Raises:
        InvalidInput: The step is not a model call, or its conversation is too long to be rebuilt.
    """
    _check(action)
    if action.sequence <= READ_WHOLE or _recorded(action, _about(action)) is not None:
        return request_of(action)
    return _latest(action, messages) or request_of(action)


def visible_request(action: Action, messages: int, visible: Visible) -> FrozenRequest:
    """Return the same as `latest_of_request`, made only of what a reader may see.

    Raises:
        InvalidInput: The step is not a model call, or its conversation is too long to be rebuilt.
    """
    _check(action)
    about = _about(action, visible)
    found = _recorded(action, about, visible)
    if found is not None:
        return StoredTurns(action.session, visible.through, visible.redacted).whole(action.sequence, found)
    if action.sequence > READ_WHOLE:
        latest = _latest(action, messages, visible)
        if latest is not None:
            return latest
    if action.sequence > MOST_STEPS:
        raise _too_long(action.sequence)
    conversation, read = _since(action, 1, visible)
    whole = _request(action.sequence, conversation, about, read)
    return whole if action.session.parent_id is None else replace(whole, absent=(*whole.absent, EARLIER))


def recorded_request(action: Action, redacted: Callable[[JsonObject], JsonObject]) -> FrozenRequest | None:
    """Return the request that a model call recorded, made of nothing but that step, with what `redacted` returns of its
    fields; None if it recorded none.

    Raises:
        InvalidInput: The step is not a model call.
    """
    _check(action)
    alone = Visible(through=0, redacted=redacted)
    return _recorded(action, _about(action, alone), alone)


def requests_of(session: Session, sequences: Collection[int]) -> Iterator[tuple[int, FrozenRequest]]:
    """Yield the number of each of these model calls with its request, in order of the steps.

    Those that were not recorded are rebuilt in one pass over the steps of the session and of those it continues.

    Raises:
        InvalidInput: A conversation is too long to be rebuilt.
    """
    rows = session.actions.filter(sequence__in=sequences, kind=MODEL_CALL).order_by("sequence")
    calls = {call.sequence: call for call in rows.select_related("input", "output")}
    circumstances = _circumstances(session, calls)
    logged = events_inside(session, calls.values())
    found = {
        number: _recorded(call, circumstances[number], events=logged.get(number, ()))
        for number, call in calls.items()
    }
    missing = {number: circumstances[number] for number, request in found.items() if request is None}
    again = dict(_rebuilt(session, missing)) if missing else {}
    turns = StoredTurns(session, max(calls, default=0), lambda fields: fields)
    for number, request in found.items():
        yield number, again[number] if request is None else turns.whole(number, request)


def _check(action: Action) -> None:
    if action.kind != MODEL_CALL:
        raise InvalidInput(
            f"Step {action.sequence} is not a model call. Choose one of kind {MODEL_CALL}.",
            code="not_a_model_call",
            kind=action.kind,
        )


def _too_long(length: int) -> InvalidInput:
    return InvalidInput(
        f"The conversation before this call has {length:,} steps; the maximum is {MOST_STEPS:,}.",
        code="conversation_too_long",
        steps=length,
        most=MOST_STEPS,
    )


def _recorded(
    call: Action, about: Circumstances, visible: Visible | None = None, events: Sequence[Action] | None = None
) -> FrozenRequest | None:
    """Return the request that the call recorded, or else events inside it, which are looked up unless they are given."""
    if call.input is None:
        through = None if visible is None else visible.through
        logged = (
            events_inside(call.session, [call], through).get(call.sequence, ()) if events is None else events
        )
        return _logged(logged, about, visible) if logged else None
    given = _seen({"input": value(call.input)}, visible)["input"]
    return recorded(given, replace(about, altered=() if is_intact(call.input) else (call.sequence,)))


def _logged(events: Sequence[Action], about: Circumstances, visible: Visible | None) -> FrozenRequest | None:
    altered = tuple(each.sequence for each in events if not is_intact(each.input))
    given = _seen({"input": messages_in(events)}, visible)["input"]
    found = recorded(given, replace(about, altered=altered))
    return found and replace(found, steps=(*found.steps, *(each.sequence for each in events)))


def _seen(fields: JsonObject, visible: Visible | None) -> JsonObject:
    return fields if visible is None else visible.redacted(fields)


def _about(call: Action, visible: Visible | None = None) -> Circumstances:
    return _circumstances(call.session, {call.sequence: call}, visible)[call.sequence]


def _circumstances(
    session: Session, calls: Mapping[int, Action], visible: Visible | None = None
) -> dict[int, Circumstances]:
    """Return what else is known of the calls. An agent that they are inside can state their tools and system prompt."""
    places = [
        {
            "sequence": call.sequence,
            "client_id": call.client_id,
            "parent_sequence": call.parent_sequence,
            "parent_id_given": call.parent_id_given,
        }
        for call in calls.values()
    ]
    through = None if visible is None else visible.through
    outer = ancestors(session, places, "parameters", through=through)
    in_text = agents_calling_in_text(session, through)
    return {
        number: replace(
            _with_stated(call, levels_of(call, outer), visible), calls_in_text=call.agent in in_text
        )
        for number, call in calls.items()
    }


def _with_stated(call: Action, outer: Iterator[Row], visible: Visible | None) -> Circumstances:
    stated: JsonObject = {}
    stated_in: list[int] = []
    for row in outer:
        of_agent = row["parameters"] if row["kind"] == "event" else None
        new = {name: each for name in _STATED if name not in stated and (each := (of_agent or {}).get(name))}
        stated |= new
        stated_in += [row["sequence"]] if new else []
    own = _seen({"output": value(call.output), "parameters": call.parameters, "model": call.model}, visible)
    called = tuple(part.name for part in answer_parts(own["output"]) if isinstance(part, ToolCall))
    return Circumstances(
        model=own["model"],
        parameters=own["parameters"],
        called=called,
        stated=_seen({"parameters": stated}, visible)["parameters"] or None,
        stated_in=tuple(stated_in),
    )


def _rebuilt(session: Session, calls: Mapping[int, Circumstances]) -> Iterator[tuple[int, FrozenRequest]]:
    parts = _parts(session, max(calls))
    length = sum(part.through for part in parts)
    if length > MOST_STEPS:
        raise _too_long(length)
    steps: list[RecordedStep] = []
    altered: list[int] = []
    deleted: list[int] = []
    keys = {part.session.key for part in parts}
    for part in parts:
        rows = rows_through(part.session, part.through)
        read = steps_of([row for row in rows if not _is_of(row, keys - {part.session.key})], part.shift)
        steps += read.steps
        altered += read.altered
        deleted += read.deleted
    whole = StepsRead(steps=steps, altered=tuple(altered), deleted=tuple(deleted))
    for number, conversation in conversations(steps, calls):
        yield number, _request(number, conversation, calls[number], whole)


def _request(number: int, conversation: Conversation, about: Circumstances, read: StepsRead) -> FrozenRequest:
    deleted = tuple(each for each in read.deleted if each < number)
    return rebuilt(conversation, replace(about, altered=read.altered, deleted=deleted))


def _latest(call: Action, messages: int, visible: Visible | None = None) -> FrozenRequest | None:
    """Return the request from the steps since the last compaction, or from as many as the messages need; None if these are
    all steps of the session."""
    number, about = call.sequence, _about(call, visible)
    compaction = last_compaction(call.session, number)
    length = max(READ_WHOLE // 2, messages * _STEPS_OF_A_MESSAGE)
    while (first := number - length) > 1:
        is_whole = compaction is not None and compaction >= first
        first = compaction if compaction is not None and is_whole else first
        conversation, read = _since(call, first, visible)
        request = _request(number, conversation, about, read)
        if is_whole and conversation.compacted:
            return request
        if is_whole:  # it is that of a sub-agent
            compaction = None
        elif len(request.request.messages) > messages:
            latest = replace(request.request, messages=request.request.messages[-messages:])
            return replace(request, request=latest, since=first)
        else:
            length *= 2
    return None


def _since(call: Action, first: int, visible: Visible | None) -> tuple[Conversation, StepsRead]:
    """Return the conversation before a call from a step on, with what earlier steps state for all of it."""
    rows = [*stating_rows(call.session, first), *rows_through(call.session, call.sequence, first)]
    outer = ancestors(call.session, rows, through=visible.through if visible is not None else None)
    read = steps_of(sorted([*outer, *rows], key=lambda row: row["sequence"]))
    steps = [_as_seen(step, visible) for step in read.steps]
    found = conversations(steps, [call.sequence], {row["sequence"] for row in outer})
    return next(found)[1], read


def _as_seen(step: RecordedStep, visible: Visible | None) -> RecordedStep:
    fields = {name: getattr(step, name) for name in _OF_STEPS}
    return step if visible is None else replace(step, **_chosen(visible.redacted(fields)))


def _chosen(fields: JsonObject) -> JsonObject:
    return {name: fields.get(name) for name in _OF_STEPS}


def _parts(session: Session, through: int) -> list[_Part]:
    """Return the sessions that a conversation runs through, the oldest first. A file that repeats what it continues
    needs none but itself."""
    parts = [_Part(session=session, through=through, shift=0)]
    while len(parts) < MOST_PARENTS:
        here = parts[-1]
        parent, last = here.session.parent, here.session.parent_sequence
        repeated = here.session.actions.exclude(HAPPENED_HERE).exists()
        if parent is None or last is None or repeated or any(parent == each.session for each in parts):
            break
        parts.append(_Part(session=parent, through=last, shift=here.shift + last))
    return parts[::-1]


def _is_of(row: Row, keys: Collection[str]) -> bool:
    """Return whether a step is a copy of one in these sessions, which are read themselves."""
    copied_from = row["copied_from"]
    return copied_from is not None and copied_from.get("session") in keys
