"""The state at a step: what had been said, what existed, what it had cost so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from timemachine.core.pure.clock import parse_time
from timemachine.knowledge.queries import frames_at
from timemachine.recording.sessions.models import INTERNAL_MESSAGES, Action, Session
from timemachine.recording.timeline.step import Head, heads
from timemachine.recording.usage.models import FirstUse
from timemachine.recording.usage.pure.totals import Totals
from timemachine.recording.usage.queries import frames_used_through, totals_through

MESSAGE_BYTES: Final = 2_000
TALKING: Final = ("message", "ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMessage:
    """A message, or a question or answer of an ask: its role, its step, and how it begins."""

    sequence: int
    role: str | None
    text: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state at a step: totals, the latest messages, the frames used, and how many frames existed.

    `frames_existed` is None if the session has no collection; `as_of` is the time it was counted for.
    """

    sequence: int
    totals: Totals
    messages: Sequence[StateMessage]
    message_count: int
    frames_used: Sequence[FirstUse]
    frames_existed: int | None
    as_of: datetime


def state_at(session: Session, sequence: int, *, most_messages: int = 50, most_frames: int = 200) -> State:
    """Return the state after that step was recorded. At most eight queries, none of which reads the entire session."""
    until = Action.objects.filter(session=session, sequence__lte=sequence)
    as_of = moment_of(until.order_by("-sequence").first(), session)
    totals = totals_through(session, sequence)
    return State(
        sequence=sequence,
        totals=totals,
        messages=messages_of(until, most_messages),
        message_count=messages_in(totals) - internal_message_count(until),
        frames_used=frames_used_through(session, sequence, most_frames),
        frames_existed=None if session.collection is None else frames_at(session.collection, as_of).count(),
        as_of=as_of,
    )


def messages_in(totals: Totals) -> int:
    """Return how many of the counted steps are messages, including internal ones; an ask is one."""
    return sum(totals.kinds.get(kind, 0) for kind in TALKING)


def internal_message_count(actions: QuerySet[Action]) -> int:
    """Return how many of these are messages neither to the agent nor from it. One query, on an index of only these."""
    return actions.filter(INTERNAL_MESSAGES).count()


def conversation(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Return those that are part of the conversation with the agent: messages and asks."""
    return actions.filter(kind__in=TALKING).exclude(INTERNAL_MESSAGES)


def moment_of(action: Action | None, session: Session) -> datetime:
    """Return the time whose knowledge a step saw: that of its retrieval, else its start, else when it was recorded."""
    if action is None:
        return session.started_at
    named = (action.retrieval or {}).get("as_of")
    return parse_time(named) if named else action.started_at or action.recorded_at


def messages_of(actions: QuerySet[Action], most: int) -> list[StateMessage]:
    """Return the latest messages of some actions, in order; an ask is a question and its answer. Two queries."""
    if not most:
        return []
    first, *others = [
        conversation(actions).filter(kind=kind).order_by("-sequence")[:most] for kind in TALKING
    ]  # each uses its own index
    latest = [*first.union(*others, all=True).order_by("-sequence")[:most]][::-1]
    found = heads(
        [payload for action in latest for payload in (action.input_id, action.output_id)], MESSAGE_BYTES
    )
    return [
        StateMessage(sequence=action.sequence, role=role, text=found[payload])
        for action in latest
        for role, payload in _turns(action)
        if payload is not None
    ]


def _turns(action: Action) -> list[tuple[str | None, int | None]]:
    if action.kind == "ask":
        failed = action.error_type is not None  # text written before a failure is not an answer
        return [("user", action.input_id), ("agent", None if failed else action.output_id)]
    return [(action.role, action.output_id or action.input_id)]
