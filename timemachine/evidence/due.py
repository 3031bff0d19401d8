"""What is to be sealed: sessions that ended or recorded for a while, replays and comparisons that are over."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Concat

from timemachine.base.clock import now
from timemachine.comparison.models import CellMark, CellOpinion, Comparison, ComparisonReplay
from timemachine.evidence import checkpoint
from timemachine.evidence.comparison_records import MARK, OPINION, name_of
from timemachine.evidence.comparison_subject import settled
from timemachine.evidence.models import Seal, SealedRecord
from timemachine.recording.models import Session
from timemachine.replay.models import Replay

MOST: Final = 100


def sessions() -> list[UUID]:
    """Sessions whose seal lacks something: those that ended, and those that record and were not sealed for `SEAL_SECONDS`."""
    ended, recording = Q(status=Session.ENDED), Q(status=Session.RECORDING)
    unsealed = Q(seals=None) | Q(seals__signed_size__lte=F("last_sequence"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    waited = Q(seals=None, created_at__lt=patience) | Q(seals__signed_at__lt=patience)
    due = (ended & (unsealed | ~Q(seals__state=checkpoint.CLOSED))) | (recording & unsealed & waited)
    found = Session.objects.filter(due, seals__problem=None, last_sequence__gte=1)
    return list(found.order_by("id").values_list("id", flat=True)[:MOST])


def replays() -> list[UUID]:
    """Replays that are over, of recorded sessions, and have no seal of their last run."""
    sealed = Q(seals__run_ended_at=F("finished_at"))
    found = (
        Replay.objects.filter(finished_at__isnull=False).exclude(sealed).exclude(seals__problem__isnull=False)
    )
    return list(found.order_by("id").values_list("id", flat=True)[:MOST])


def comparisons() -> list[UUID]:
    """Comparisons that are over and have no seal of their last run, or of which something was said since, `SEAL_SECONDS` after their seal."""
    runs = ComparisonReplay.objects.filter(comparison=OuterRef("pk"))
    over = Comparison.objects.filter(Exists(runs)).exclude(Exists(runs.filter(replay__finished_at=None)))
    ended = runs.order_by("-replay__finished_at").values("replay__finished_at")[:1]
    seals = Seal.objects.filter(comparison=OuterRef("pk"), run_ended_at=OuterRef("ended_at"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    grown = seals.filter(signed_at__lt=patience).filter(
        Exists(_not_sealed(MARK, CellMark.objects.all()))
        | Exists(_not_sealed(OPINION, settled(CellOpinion.objects.all())))
    )
    due = ~Exists(seals.filter(Q(signed_size__gt=0) | Q(problem__isnull=False))) | Exists(grown)
    found = over.annotate(ended_at=Subquery(ended)).filter(due)
    return list(found.order_by("id").values_list("id", flat=True)[:MOST])


def _not_sealed[Row: (CellMark, CellOpinion)](kind: str, said: QuerySet[Row]) -> QuerySet[Row]:
    """What was said of cells and stands in no record of the seal that is asked about."""
    name = Concat(Value(name_of(kind, "")), Cast("pk", CharField()))
    records = SealedRecord.objects.filter(seal=OuterRef(OuterRef("pk")), row=OuterRef("name"))
    return said.filter(comparison=OuterRef("comparison")).annotate(name=name).exclude(Exists(records))
