"""What we ask of how much steps matter: what is in force besides the record, and the history of it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.annotations.significance.effective import IMPORTANCE, SIGNIFICANCE
from timemachine.recording.annotations.significance.models import Compression, CompressionChange, WeightChange
from timemachine.recording.sessions.models import Action, Session

SAID: Final = Q(weight__isnull=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What is in force for a step and differs from the record: who said it and when, None where only its session was compressed."""

    significance: str | None
    importance: float | None
    by: str | None
    at: datetime | None
    compressed: bool


def in_force(session: Session, sequences: Collection[int]) -> dict[int, InForce]:
    """What is in force besides the record for these steps; those for which nothing is are left out. One query."""
    pressed = Q(session__compression__through__gte=F("sequence"))
    found = (
        Action.objects.filter(session=session, sequence__in=sequences)
        .filter(SAID | pressed)
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


def changes_of(session: Session, sequence: int | None = None) -> QuerySet[WeightChange]:
    """What was changed of the session's steps, or of one, the latest first."""
    found = WeightChange.objects.filter(session=session).order_by("-id")
    return found if sequence is None else found.filter(sequence=sequence)


def changes_before(session: Session, before: UUID | None) -> QuerySet[WeightChange]:
    """The changes that came before the one with that id, the latest first; without one all. Raises `InvalidInput` where there is no such."""
    if before is None:
        return changes_of(session)
    if not WeightChange.objects.filter(session=session, id=before).exists():
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return changes_of(session).filter(id__lt=before)


def compression_of(session: Session) -> Compression | None:
    """How the session is compressed; None where it is not."""
    return Compression.objects.filter(session=session).first()


def compressions_of(session: Session) -> QuerySet[CompressionChange]:
    """When the session was compressed and when that was undone, the latest first."""
    return CompressionChange.objects.filter(session=session).order_by("-id")
