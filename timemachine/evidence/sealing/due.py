"""What needs sealing: ended or long recording sessions, and finished replays and comparisons.

Projects take turns. A project whose key cannot sign is skipped until it can or is replaced: retrying would only
delay the others.
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
from timemachine.evidence.sealing.comparison_subject import final_opinions
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison, ComparisonReplay
from timemachine.replay.runs.models import Replay, ReplayStep

BATCH: Final = 100


def sessions() -> list[UUID]:
    """Return sessions to seal: ended ones, and recording ones that were not sealed for `SEAL_SECONDS`."""
    ended, recording = Q(status=Session.ENDED), Q(status=Session.RECORDING)
    unsealed = Q(seals=None) | Q(seals__signed_size__lte=F("last_sequence"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    waited = Q(seals=None, created_at__lt=patience) | Q(seals__signed_at__lt=patience)
    due = (ended & (unsealed | ~Q(seals__state=checkpoint.CLOSED))) | (recording & unsealed & waited)
    found = Session.objects.filter(due, seals__problem=None, last_sequence__gte=1)
    return _fairly(found)


def replays() -> list[UUID]:
    """Return finished replays of recorded sessions whose last run is not sealed."""
    seals = Seal.objects.filter(replay=OuterRef("pk"))
    later = ReplayStep.objects.filter(replay=OuterRef("replay"), finished_at__gt=OuterRef("run_ended_at"))
    sealed = seals.filter(~Exists(later), signed_size__gt=0)
    final_opinions = Exists(sealed) | Exists(seals.filter(problem__isnull=False))
    found = Replay.objects.filter(~final_opinions, finished_at__isnull=False)
    return _fairly(found)


def comparisons() -> list[UUID]:
    """Return finished comparisons that are not sealed, or got remarks `SEAL_SECONDS` after their seal."""
    runs = ComparisonReplay.objects.filter(comparison=OuterRef("pk"))
    finished = Comparison.objects.filter(Exists(runs)).exclude(Exists(runs.filter(replay__finished_at=None)))
    ended = runs.order_by("-replay__finished_at").values("replay__finished_at")[:1]
    seals = Seal.objects.filter(comparison=OuterRef("pk"), run_ended_at=OuterRef("ended_at"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    grown = seals.filter(signed_at__lt=patience).filter(
        Exists(_not_sealed(MARK, CellMark.objects.all()))
        | Exists(_not_sealed(OPINION, final_opinions(CellOpinion.objects.all())))
    )
    due = ~Exists(seals.filter(Q(signed_size__gt=0) | Q(problem__isnull=False))) | Exists(grown)
    return _fairly(finished.annotate(ended_at=Subquery(ended)).filter(due))


def _fairly(found: QuerySet[Any]) -> list[UUID]:
    """Return ids round robin: the oldest of each project, then the next ones, at most `BATCH`."""
    unusable = keys.projects_with_unusable_key(found.order_by().values("project"))
    turn = Window(RowNumber(), partition_by="project", order_by="id")
    in_turn = found.exclude(project__in=unusable).annotate(turn=turn).order_by("turn", "id")
    return list(in_turn.values_list("id", flat=True)[:BATCH])


def _not_sealed[Row: (CellMark, CellOpinion)](kind: str, remarks: QuerySet[Row]) -> QuerySet[Row]:
    """Return the remarks about cells that no record of the outer query's seal contains."""
    name = Concat(Value(name_of(kind, "")), Cast("pk", CharField()))
    records = SealedRecord.objects.filter(seal=OuterRef(OuterRef("pk")), row=OuterRef("name"))
    return remarks.filter(comparison=OuterRef("comparison")).annotate(name=name).exclude(Exists(records))
