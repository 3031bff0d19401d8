"""The state at a step: what had been said, what existed, what it had cost so far; and what changed in it between two steps,
without reading those in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Q, QuerySet

from timemachine.core.pure.clock import parse_time
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import DELETING_CAUSES, frames_at
from timemachine.recording.sessions.models import INTERNAL_MESSAGES, Action, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE, time_of
from timemachine.recording.timeline.provenance import frames_put, put_records
from timemachine.recording.timeline.step import Head, heads
from timemachine.recording.usage.models import FirstUse
from timemachine.recording.usage.pure.totals import NOTHING, Totals
from timemachine.recording.usage.queries import frames_first_used, frames_used_through, totals_through

MESSAGE_BYTES: Final = 2_000
TALKING: Final = ("message", "ask")
MOST_MESSAGES: Final = 5
MOST_FRAMES: Final = 20
FRAME: Final = ("number", "version", "title", "valid_from", "valid_until", "ended_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMessage:
    """A message, or a question or answer of an ask: its role, its step, the field of it, and how it begins."""

    sequence: int
    role: str | None
    field: str
    text: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state at a step: totals, the latest messages, the frames used, and how many frames existed.

    `frames_existed` is None if the session has no collection; `as_of` is the time it was counted for, None if unknown.
    """

    sequence: int
    totals: Totals
    messages: Sequence[StateMessage]
    message_count: int
    frames_used: Sequence[FirstUse]
    frames_existed: int | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionChanges:
    """How a collection changed between two moments.

    `came` counts new frames, `renewed` new versions of frames, `left` frames that were deleted or ended. `arrived`
    lists the latest of the first two, `gone` of the last.
    """

    since: datetime
    until: datetime
    came: int
    renewed: int
    left: int
    arrived: Sequence[Frame]
    gone: Sequence[Frame]

    @property
    def more(self) -> bool:
        """Whether it counts more than it lists."""
        return self.came + self.renewed > len(self.arrived) or self.left > len(self.gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """What the steps after `first` and up to `last` changed; `first` is 0 for the beginning of the session.

    `messages` are the latest of `message_count`, in which an ask is one; `frames_used` are the latest of the
    `frames_used_count` used for the first time. `collection` is None if the session has none.
    """

    first: int
    last: int
    before: Totals
    after: Totals
    messages: Sequence[StateMessage]
    message_count: int
    frames_used: Sequence[FirstUse]
    frames_used_count: int
    collection: CollectionChanges | None

    @property
    def more_messages(self) -> bool:
        """Whether there are more than in `messages`."""
        return self.message_count > MOST_MESSAGES


def state_at(session: Session, sequence: int, *, most_messages: int = 50, most_frames: int = 200) -> State:
    """Return the state after that step was recorded. At most eight queries, none of which reads the entire session."""
    until = Action.objects.filter(session=session, sequence__lte=sequence)
    as_of = moment_of(until.order_by("-sequence").first(), session)
    totals = totals_through(session, sequence)
    return State(
        sequence=sequence,
        totals=totals,
        messages=messages_of(until, most_messages),
        message_count=messages_in(totals) + uncounted_messages(until),
        frames_used=frames_used_through(session, sequence, most_frames),
        frames_existed=frames_at(session.collection, as_of).count() if session.collection and as_of else None,
        as_of=as_of,
    )


def messages_in(totals: Totals) -> int:
    """Return how many of the counted steps are messages, including internal ones but not copies; an ask is one."""
    return sum(totals.kinds.get(kind, 0) for kind in TALKING)


def uncounted_messages(actions: QuerySet[Action]) -> int:
    """Return what to add to `messages_in` for the number of messages of a conversation: copied messages, less those
    neither to the agent nor from it. One query, on indexes of only these.
    """
    copied = ~HAPPENED_HERE & Q(kind__in=TALKING) & ~INTERNAL_MESSAGES
    found = actions.filter(INTERNAL_MESSAGES | ~HAPPENED_HERE).aggregate(
        copied=Count("id", filter=copied), internal=Count("id", filter=INTERNAL_MESSAGES & HAPPENED_HERE)
    )
    return int(found["copied"] - found["internal"])


def conversation(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Return those that are part of the conversation with the agent: messages and asks."""
    return actions.filter(kind__in=TALKING).exclude(INTERNAL_MESSAGES)


def moment_of(action: Action | None, session: Session) -> datetime | None:
    """Return the time whose knowledge a step saw: that of its retrieval, else its own, None if that is unknown."""
    if action is None:
        return session.stated_start
    named = (action.retrieval or {}).get("as_of")
    return parse_time(named) if named else time_of(action, session)


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
        StateMessage(sequence=action.sequence, role=role, field=field, text=found[payload])
        for action in latest
        for role, field in _turns(action)
        if (payload := getattr(action, f"{field}_id")) is not None
    ]


def _turns(action: Action) -> list[tuple[str | None, str]]:
    """Return who said what is in which fields of a message or ask."""
    if action.kind == "ask":
        failed = action.error_type is not None  # text written before a failure is not an answer
        return [("user", "input"), *([] if failed else [("agent", "output")])]
    return [(action.role, "input" if action.output_id is None else "output")]


def between(session: Session, first: Action | None, last: Action) -> Between:
    """Return what changed from the state at one step to that at a later one; None is the beginning. At most fifteen queries."""
    after = first.sequence if first is not None else 0
    steps = Action.objects.filter(session=session, sequence__gt=after, sequence__lte=last.sequence)
    used = frames_first_used(session, after, last.sequence)
    totals = (totals_through(session, after) if after else NOTHING), totals_through(session, last.sequence)
    return Between(
        first=after,
        last=last.sequence,
        before=totals[0],
        after=totals[1],
        messages=messages_of(steps, MOST_MESSAGES),
        message_count=messages_in(totals[1]) - messages_in(totals[0]) + uncounted_messages(steps),
        frames_used=list(used[:MOST_FRAMES]),
        frames_used_count=used.count(),
        collection=_collection_changes(session, first, last),
    )


def _collection_changes(session: Session, first: Action | None, last: Action) -> CollectionChanges | None:
    if session.collection is None:
        return None
    done = _moments_of_puts(session, [each for each in (first, last) if each is not None])
    since, until = (done.get(each.id if each else 0) or moment_of(each, session) for each in (first, last))
    return _changed(session.collection, min(since, until), max(since, until)) if since and until else None


def _moments_of_puts(session: Session, steps: Sequence[Action]) -> dict[int, datetime]:
    """Return when the frame of a put was in the collection, by action row: a put starts earlier, and its state includes
    the frame."""
    records = {row: each for row, each in put_records(steps).items() if not each.already_there}
    stood = {
        (name, number, version): moment
        for name, number, version, moment in frames_put(session.project_id, records.values()).values_list(
            "collection__name", "number", "version", "valid_from"
        )
    }
    found = {row: stood.get((each.collection, each.number, each.version)) for row, each in records.items()}
    return {row: moment for row, moment in found.items() if moment is not None}


def _changed(collection: Collection, since: datetime, until: datetime) -> CollectionChanges:
    frames = Frame.objects.filter(collection=collection)
    arrived = frames.filter(valid_from__gt=since, valid_from__lte=until)
    deleted = frames.filter(valid_until__gt=since, valid_until__lte=until, ended_by__in=DELETING_CAUSES)
    came = arrived.aggregate(new=Count("id", filter=Q(version=1)), all=Count("id"))
    return CollectionChanges(
        since=since,
        until=until,
        came=came["new"],
        renewed=came["all"] - came["new"],
        left=deleted.count(),
        arrived=_latest(arrived, "-valid_from"),
        gone=_latest(deleted, "-valid_until"),
    )


def _latest(frames: QuerySet[Frame], by: str) -> list[Frame]:
    return list(frames.only(*FRAME).order_by(by, "-number")[:MOST_FRAMES])
