"""Read the requests of recorded model calls: as they were recorded, or rebuilt from the steps before them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.payloads.queries import current_sha256, value
from timemachine.core.pure.content import sha256_hex, value_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.model_calls.pure.conversation import RecordedStep, conversations
from timemachine.recording.model_calls.pure.requests import Circumstances, FrozenRequest, rebuilt, recorded
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.sessions.deletions import IS_DELETED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE

MODEL_CALL: Final = "llm_call"
MOST_STEPS: Final = 20_000
"""The most steps from which a conversation is rebuilt."""
MOST_PARENTS: Final = 20
_PAYLOADS: Final = ("input", "output")
_COLUMNS: Final = (
    "sequence",
    "client_id",
    "kind",
    "layer",
    "role",
    "agent",
    "name",
    "tool",
    "call_id",
    "parent_sequence",
    "parent_id_given",
    "tags",
    "copied_from",
    "error_type",
    "error_message",
    *(f"{side}__{column}" for side in _PAYLOADS for column in ("media_type", "data", "sha256")),
)


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
    if action.kind != MODEL_CALL:
        raise InvalidInput(
            f"Step {action.sequence} is not a model call. Choose one of kind {MODEL_CALL}.",
            code="not_a_model_call",
            kind=action.kind,
        )
    return next(requests_of(action.session, [action.sequence]))[1]


def requests_of(session: Session, sequences: Collection[int]) -> Iterator[tuple[int, FrozenRequest]]:
    """Yield the number of each of these model calls with its request, in order of the steps.

    Those that were not recorded are rebuilt in one pass over the steps of the session and of those it continues.

    Raises:
        InvalidInput: A conversation is too long to be rebuilt.
    """
    calls = session.actions.filter(sequence__in=sequences, kind=MODEL_CALL).order_by("sequence")
    found = {call.sequence: (call, _recorded(call)) for call in calls.select_related("input", "output")}
    missing = {number: call for number, (call, request) in found.items() if request is None}
    again = dict(_rebuilt(session, missing)) if missing else {}
    for number, (_, request) in found.items():
        yield number, request or again[number]


def _recorded(call: Action) -> FrozenRequest | None:
    if call.input is None:
        return None
    altered = (call.sequence,) if current_sha256(call.input) != call.input.sha256 else ()
    return recorded(value(call.input), replace(_circumstances(call), altered=altered))


def _circumstances(call: Action) -> Circumstances:
    called = any(isinstance(part, ToolCall) for part in answer_parts(value(call.output)))
    return Circumstances(model=call.model, parameters=call.parameters, called_tools=called)


def _rebuilt(session: Session, calls: Mapping[int, Action]) -> Iterator[tuple[int, FrozenRequest]]:
    parts = _parts(session, max(calls))
    length = sum(part.through for part in parts)
    if length > MOST_STEPS:
        raise InvalidInput(
            f"The conversation before this call has {length:,} steps; at most {MOST_STEPS:,} are put together.",
            code="conversation_too_long",
            steps=length,
            most=MOST_STEPS,
        )
    steps: list[RecordedStep] = []
    altered: list[int] = []
    deleted: list[int] = []
    keys = {part.session.key for part in parts}
    for part in parts:
        rows = [row for row in _rows(part) if not _is_of(row, keys - {part.session.key})]
        places = {row["client_id"]: row["sequence"] for row in rows if row["client_id"] is not None}
        steps += [_step(row, places, part.shift) for row in rows]
        altered += [row["sequence"] - part.shift for row in rows if not _is_intact(row)]
        deleted += [row["sequence"] - part.shift for row in rows if row["is_deleted"]]
    for number, conversation in conversations(steps, calls):
        about = replace(
            _circumstances(calls[number]),
            altered=tuple(altered),
            deleted=tuple(each for each in deleted if each < number),
        )
        yield number, rebuilt(conversation, about)


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


def _rows(part: _Part) -> Sequence[Mapping[str, Any]]:
    steps = part.session.actions.filter(sequence__lte=part.through).annotate(is_deleted=IS_DELETED)
    return list(steps.order_by("sequence").values(*_COLUMNS, "is_deleted"))


def _is_of(row: Mapping[str, Any], keys: Collection[str]) -> bool:
    """Return whether a step is a copy of one in these sessions, which are read themselves."""
    copied_from = row["copied_from"]
    return copied_from is not None and copied_from.get("session") in keys


def _is_intact(row: Mapping[str, Any]) -> bool:
    """Return whether the stored bytes of a step have the hashes that were recorded."""
    return all(
        row[f"{side}__data"] is None or sha256_hex(bytes(row[f"{side}__data"])) == row[f"{side}__sha256"]
        for side in _PAYLOADS
    )


def _step(row: Mapping[str, Any], places: Mapping[str, int], shift: int) -> RecordedStep:
    parent = row["parent_sequence"]
    if row["parent_id_given"] is not None:
        parent = places.get(row["parent_id_given"])
    return RecordedStep(
        sequence=row["sequence"] - shift,
        kind=row["kind"],
        role=row["role"],
        agent=row["agent"],
        name=row["name"],
        tool=row["tool"],
        call_id=row["call_id"],
        parent=None if parent is None else parent - shift,
        tags=row["tags"],
        input=_value(row, "input"),
        output=_value(row, "output"),
        failed=row["error_type"] is not None or row["error_message"] is not None,
        is_internal=row["layer"] in {"tool", "sys"} and row["role"] != "system",
    )


def _value(row: Mapping[str, Any], side: str) -> Any:
    data = row[f"{side}__data"]
    return None if data is None else value_of(row[f"{side}__media_type"], bytes(data))
