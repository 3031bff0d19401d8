"""What changed in a session's state between two steps, without reading those in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Q, QuerySet

from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import DELETING_CAUSES
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.provenance import frames_put, put_records
from timemachine.recording.timeline.state import (
    StateMessage,
    internal_message_count,
    messages_in,
    messages_of,
    moment_of,
)
from timemachine.recording.usage.models import FirstUse
from timemachine.recording.usage.pure.totals import NOTHING, Totals
from timemachine.recording.usage.queries import frames_first_used, totals_through

MOST_MESSAGES: Final = 5
MOST_FRAMES: Final = 20
FRAME: Final = ("number", "version", "title", "valid_from", "valid_until", "ended_by")


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

    `messages` are the latest of `message_count`; `frames_used` are the latest of the `frames_used_count` used for the
    first time. `unsaid` internal messages are not among them. `collection` is None if the session has none.
    """

    first: int
    last: int
    before: Totals
    after: Totals
    messages: Sequence[StateMessage]
    unsaid: int
    frames_used: Sequence[FirstUse]
    frames_used_count: int
    collection: CollectionChanges | None

    @property
    def message_count(self) -> int:
        """The number of messages; an ask is one."""
        return messages_in(self.after) - messages_in(self.before) - self.unsaid

    @property
    def more_messages(self) -> bool:
        """Whether there are more than in `messages`."""
        return self.message_count > MOST_MESSAGES


def between(session: Session, first: Action | None, last: Action) -> Between:
    """Return what changed from the state at one step to that at a later one; None is the beginning. At most fifteen queries."""
    after = first.sequence if first is not None else 0
    steps = Action.objects.filter(session=session, sequence__gt=after, sequence__lte=last.sequence)
    used = frames_first_used(session, after, last.sequence)
    return Between(
        first=after,
        last=last.sequence,
        before=totals_through(session, after) if after else NOTHING,
        after=totals_through(session, last.sequence),
        messages=messages_of(steps, MOST_MESSAGES),
        unsaid=internal_message_count(steps),
        frames_used=list(used[:MOST_FRAMES]),
        frames_used_count=used.count(),
        collection=_collection_changes(session, first, last),
    )


def _collection_changes(session: Session, first: Action | None, last: Action) -> CollectionChanges | None:
    if session.collection is None:
        return None
    done = _moments_of_puts(session, [each for each in (first, last) if each is not None])
    moments = [done.get(each.id if each else 0) or moment_of(each, session) for each in (first, last)]
    return _changed(session.collection, min(moments), max(moments))


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
    gone = frames.filter(valid_until__gt=since, valid_until__lte=until, ended_by__in=DELETING_CAUSES)
    came = arrived.aggregate(new=Count("id", filter=Q(version=1)), all=Count("id"))
    return CollectionChanges(
        since=since,
        until=until,
        came=came["new"],
        renewed=came["all"] - came["new"],
        left=gone.count(),
        arrived=_latest(arrived, "-valid_from"),
        gone=_latest(gone, "-valid_until"),
    )


def _latest(frames: QuerySet[Frame], by: str) -> list[Frame]:
    return list(frames.only(*FRAME).order_by(by, "-number")[:MOST_FRAMES])
