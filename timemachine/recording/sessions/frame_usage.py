"""Sessions that used a frame: they found it, or asked about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max

from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.models import Action, Hit, Session

MOST_HITS = 5_000
MOST_SESSIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameUser:
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

    used_by: tuple[FrameUser, ...]
    sessions: int
    steps: int
    more: bool


def frame_usage(frames: Sequence[int]) -> FrameUses:
    """Return which sessions used any of these rows of `Frame` (versions of one frame). Reads the latest `MOST_HITS` hits."""
    hits = Hit.objects.filter(stored_frame__in=frames).order_by("-id").values("action_id")[:MOST_HITS]
    by_session = (
        Action.objects.filter(id__in=hits)
        .values("session_id", "session__key", "session__name")
        .annotate(steps=Count("id"), step=Max("sequence"), at=Max("recorded_at"))
        .order_by("-at")
    )
    rows = list(by_session)
    steps = sum(row["steps"] for row in rows)
    return FrameUses(
        used_by=tuple(_used_by(row) for row in rows[:MOST_SESSIONS]),
        sessions=len(rows),
        steps=steps,
        more=steps >= MOST_HITS,
    )


def session_count(collection: Collection) -> int:
    """Return the number of sessions that use the collection."""
    return Session.objects.filter(collection=collection).count()


def _used_by(row: Mapping[str, Any]) -> FrameUser:
    return FrameUser(
        session=row["session_id"],
        key=row["session__key"],
        name=row["session__name"],
        steps=row["steps"],
        step=row["step"],
        at=row["at"],
    )
