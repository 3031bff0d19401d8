"""Everything that was known at a step: what had been said, what existed, what it had cost so far."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from timemachine.core.pure.clock import parse_time
from timemachine.knowledge.queries import frames_at
from timemachine.recording.sessions.models import UNSAID, Action, Session
from timemachine.recording.timeline.step import Head, heads
from timemachine.recording.usage.models import FirstUse
from timemachine.recording.usage.pure.totals import Totals
from timemachine.recording.usage.queries import frames_used_through, totals_through

MESSAGE_BYTES: Final = 2_000
TALKING: Final = ("message", "ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, or a question or answer of an ask: who said it at which step, and how it begins."""

    sequence: int
    role: str | None
    text: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedFrame:
    """A frame that a find or ask up to a step returned, and the step that returned it first."""

    frame: object
    version: int | None
    title: str | None
    first_used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything known at a step: totals, the latest of so many messages, the frames used, and how many frames existed.

    `frames_existed` is None where the session has no collection; `as_of` is the moment it was counted for.
    """

    sequence: int
    totals: Totals
    messages: Sequence[Said]
    message_count: int
    frames_used: Sequence[UsedFrame]
    frames_existed: int | None
    as_of: datetime


def state_at(session: Session, sequence: int, *, most_messages: int = 50, most_frames: int = 200) -> State:
    """Everything known when that step had been recorded. Eight queries at most, none of which reads the whole session."""
    until = Action.objects.filter(session=session, sequence__lte=sequence)
    as_of = moment_of(until.order_by("-sequence").first(), session)
    totals = totals_through(session, sequence)
    return State(
        sequence=sequence,
        totals=totals,
        messages=messages_of(until, most_messages),
        message_count=messages_in(totals) - unsaid_in(until),
        frames_used=used_frames(frames_used_through(session, sequence, most_frames)),
        frames_existed=_frames_existed(session, as_of),
        as_of=as_of,
    )


def messages_in(totals: Totals) -> int:
    """How many of the counted steps are messages, said or not; an ask is one."""
    return sum(totals.kinds.get(kind, 0) for kind in TALKING)


def unsaid_in(actions: QuerySet[Action]) -> int:
    """How many of these are messages that were not said to the agent or by it. One query, of an index that has only these."""
    return actions.filter(UNSAID).count()


def talking(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Those of them that say something to the agent, or by it: messages and asks."""
    return actions.filter(kind__in=TALKING).exclude(UNSAID)


def moment_of(action: Action | None, session: Session) -> datetime:
    """When a step saw the world: the moment its retrieval names, else its start, else its recording."""
    if action is None:
        return session.started_at
    named = (action.retrieval or {}).get("as_of")
    return parse_time(named) if named else action.started_at or action.recorded_at


def messages_of(actions: QuerySet[Action], most: int) -> list[Said]:
    """The latest messages of some actions, in their order; an ask is a question and its answer. Two queries."""
    if not most:
        return []
    first, *others = [
        talking(actions).filter(kind=kind).order_by("-sequence")[:most] for kind in TALKING
    ]  # each by its index
    latest = [*first.union(*others, all=True).order_by("-sequence")[:most]][::-1]
    found = heads(
        [payload for action in latest for payload in (action.input_id, action.output_id)], MESSAGE_BYTES
    )
    return [
        Said(sequence=action.sequence, role=role, text=found[payload])
        for action in latest
        for role, payload in _turns(action)
        if payload is not None
    ]


def _turns(action: Action) -> list[tuple[str | None, int | None]]:
    if action.kind == "ask":
        failed = action.error_type is not None  # what it wrote before it failed is no answer
        return [("user", action.input_id), ("agent", None if failed else action.output_id)]
    return [(action.role, action.output_id or action.input_id)]


def used_frames(found: Iterable[FirstUse]) -> list[UsedFrame]:
    """First uses as they are shown."""
    return [
        UsedFrame(frame=used.frame, version=used.version, title=used.title, first_used=used.sequence)
        for used in found
    ]


def _frames_existed(session: Session, as_of: datetime) -> int | None:
    return frames_at(session.collection, as_of).count() if session.collection is not None else None
