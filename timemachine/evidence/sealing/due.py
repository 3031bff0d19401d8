"""What is to be sealed: sessions that ended or recorded for a while, replays and comparisons that are over.

Each project has its turn before any has another one. A project whose key cannot be read has none until it can be, or is replaced: what is
not signed proves nothing, and trying again and again would only keep others waiting.
"""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, Window
from django.db.models.functions import Cast, Concat, RowNumber

from timemachine.core.pure.clock import now
from timemachine.evidence.log import keys
from timemachine.evidence.models import Seal, SealedRecord
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.sealing.comparison_records import MARK, OPINION, name_of
from timemachine.evidence.sealing.comparison_subject import settled
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison, ComparisonReplay
from timemachine.replay.runs.models import Replay

MOST: Final = 100


def sessions() -> list[UUID]:
    """Sessions whose seal lacks something: those that ended, and those that record and were not sealed for `SEAL_SECONDS`."""
    ended, recording = Q(status=Session.ENDED), Q(status=Session.RECORDING)
    unsealed = Q(seals=None) | Q(seals__signed_size__lte=F("last_sequence"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    waited = Q(seals=None, created_at__lt=patience) | Q(seals__signed_at__lt=patience)
    due = (ended & (unsealed | ~Q(seals__state=checkpoint.CLOSED))) | (recording & unsealed & waited)
    found = Session.objects.filter(due, seals__problem=None, last_sequence__gte=1)
    return _in_turn(found)


def replays() -> list[UUID]:
    """Replays that are over, of recorded sessions, and have no seal of their last run."""
    seals = Seal.objects.filter(replay=OuterRef("pk"))
    sealed = seals.filter(run_ended_at=OuterRef("finished_at"), signed_size__gt=0)
    settled = Exists(sealed) | Exists(seals.filter(problem__isnull=False))
    found = Replay.objects.filter(~settled, finished_at__isnull=False)
    return _in_turn(found)


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
    return _in_turn(over.annotate(ended_at=Subquery(ended)).filter(due))


def _in_turn(found: QuerySet[Any]) -> list[UUID]:
    """The ids of the oldest of each project, then of the next ones, so many at most."""
    unusable = keys.unusable(found.order_by().values("project"))
    turn = Window(RowNumber(), partition_by="project", order_by="id")
    in_turn = found.exclude(project__in=unusable).annotate(turn=turn).order_by("turn", "id")
    return list(in_turn.values_list("id", flat=True)[:MOST])


def _not_sealed[Row: (CellMark, CellOpinion)](kind: str, said: QuerySet[Row]) -> QuerySet[Row]:
    """What was said of cells and stands in no record of the seal that is asked about."""
    name = Concat(Value(name_of(kind, "")), Cast("pk", CharField()))
    records = SealedRecord.objects.filter(seal=OuterRef(OuterRef("pk")), row=OuterRef("name"))
    return said.filter(comparison=OuterRef("comparison")).annotate(name=name).exclude(Exists(records))
