"""Frames in sessions: the recorded output of a put, and the sessions that used a frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Max

from timemachine.core.pure.content import content_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.sessions.models import Action, Hit, Session

MOST_HITS = 5_000
MOST_SESSIONS = 50


class FrameUser(NamedTuple):
    """A session that used the frame: in how many steps, and in which one last."""

    session: UUID
    key: str
    name: str
    steps: int
    step: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameUses:
    """The sessions, the latest first, at most `MOST_SESSIONS`. `sessions` and `steps` count all; with `more`, they are
    minimums."""

    used_by: Sequence[FrameUser]
    sessions: int
    steps: int
    more: bool


def frame_usage(frames: Sequence[int]) -> FrameUses:
    """Return which sessions used any of these rows of `Frame` (versions of one frame). Reads the latest `MOST_HITS` hits."""
    hits = Hit.objects.filter(stored_frame__in=frames).order_by("-id").values("action_id")[:MOST_HITS]
    by_session = (
        Action.objects.filter(copied_from__isnull=True, id__in=hits)
        .values_list("session_id", "session__key", "session__name")
        .annotate(steps=Count("id"), step=Max("sequence"), at=Max("recorded_at"))
        .order_by("-at")
    )
    users = [FrameUser(*row) for row in by_session]
    steps = sum(each.steps for each in users)
    return FrameUses(used_by=users[:MOST_SESSIONS], sessions=len(users), steps=steps, more=steps >= MOST_HITS)


def session_count(collection: Collection) -> int:
    """Return the number of sessions that use the collection."""
    return Session.objects.filter(collection=collection).count()


def put_output(
    collection: str, frame: Frame, source: Mapping[str, Any] | None, *, already_there: bool
) -> JsonObject:
    """Return the output of a put: the version of the frame, and its place in a file if it has one."""
    return {
        "collection": collection,
        "frame": frame.number,
        "version": frame.version,
        "sha256": frame.sha256,
        "already_there": already_there,
        **({} if source is None else {"source": source}),
    }


def sha256_of_put(frame: Frame) -> str:
    """Return the SHA-256 in hex of the output of the put that created this version of a frame. Reads the frame's collection."""
    from_file = frame.source_id is not None
    source = place_in_file(f"{frame.source_id}", frame.uri, frame.source_start, frame.source_end)
    output = put_output(frame.collection.name, frame, source if from_file else None, already_there=False)
    return content_of(output).sha256


def place_in_file(source: str, uri: str, start: int | None, end: int | None) -> JsonObject:
    """Return the file of a passage and its character range in the file's text; `end` is exclusive."""
    return {"id": source, "uri": uri, "start": start, "end": end}
