"""The effective significance of steps, and its history.

The effective significance is as changed, else as recorded, and lowered if the session is compressed. One database
function computes the importance, for the ORM and for plain SQL.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, FloatField, Func, Q, QuerySet
from django.db.models.functions import Coalesce

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.annotations.significance.models import (
    Compression,
    CompressionChange,
    SignificanceChange,
)
from timemachine.recording.sessions.models import Action, Session

SIGNIFICANCE: Final = Coalesce("weight__significance", "significance")
"""The significance of an action, or None."""

COMPRESSED_NOW: Final = ExpressionWrapper(Q(session__compression__through__gte=F("sequence")), BooleanField())
"""Whether an action is in the compressed part of its session; None or false if not."""

IMPORTANCE: Final = Func(
    F("weight__importance"),
    F("weight__significance"),
    F("importance"),
    F("significance"),
    COMPRESSED_NOW,
    function="tm_importance",
    output_field=FloatField(),
)
"""The importance of an action from 0 to 1: as given, else by its significance; None if it has neither.

In the compressed part of a session, the recorded importance of an exploratory step counts at most `COMPRESSED`.
"""

JOINED: Final = "LEFT JOIN tm_weight now ON now.action_id = a.id LEFT JOIN tm_compression pressed ON pressed.session_id = a.session_id"
"""Joins for `SIGNIFICANCE_SQL` and `IMPORTANCE_SQL` in plain SQL over `tm_action a`."""
SIGNIFICANCE_SQL: Final = "coalesce(now.significance, a.significance)"
IMPORTANCE_SQL: Final = "tm_importance(now.importance, now.significance, a.importance, a.significance, pressed.through >= a.sequence)"

UNCOMPRESSED: Final = ("decision", "solution", "breakthrough")
"""Significances that compression does not lower; every other step is exploratory."""
COMPRESSED: Final = 0.30
"""Maximum importance of an exploratory step of a compressed session."""

IS_OVERRIDDEN: Final = Q(weight__isnull=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What differs from the record for a step; `by` and `at` are None if only its session was compressed."""

    significance: str | None
    importance: float | None
    by: str | None
    at: datetime | None
    compressed: bool


def in_force(session: Session, sequences: Collection[int]) -> dict[int, InForce]:
    """Return what differs from the record for these steps, without those that are as recorded. One query."""
    compressed = Q(session__compression__through__gte=F("sequence"))
    found = (
        Action.objects.filter(session=session, sequence__in=sequences)
        .filter(IS_OVERRIDDEN | compressed)
        .annotate(now_significance=SIGNIFICANCE, now_importance=IMPORTANCE)
        .values_list(
            "sequence",
            "now_significance",
            "now_importance",
            "weight__by",
            "weight__at",
            "session__compression__through",
        )
    )
    return {
        sequence: InForce(
            significance=significance,
            importance=importance,
            by=by,
            at=at,
            compressed=through is not None and sequence <= through,
        )
        for sequence, significance, importance, by, at, through in found
    }


def changes_of(session: Session, sequence: int | None = None) -> QuerySet[SignificanceChange]:
    """Return the changes of the session's steps, or of one step, the latest first."""
    found = SignificanceChange.objects.filter(session=session).order_by("-id")
    return found if sequence is None else found.filter(sequence=sequence)


def changes_before(session: Session, before: UUID | None) -> QuerySet[SignificanceChange]:
    """Return the changes before the one with that id, the latest first; without an id, all. Raises `InvalidInput` for an
    unknown id."""
    if before is None:
        return changes_of(session)
    if not SignificanceChange.objects.filter(session=session, id=before).exists():
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return changes_of(session).filter(id__lt=before)


def compression_of(session: Session) -> Compression | None:
    """Return the session's compression, or None."""
    return Compression.objects.filter(session=session).first()


def compressions_of(session: Session) -> QuerySet[CompressionChange]:
    """Return when the session was compressed and when this was undone, the latest first."""
    return CompressionChange.objects.filter(session=session).order_by("-id")
