"""A finished comparison as it is sealed: cells, results, then remarks in the order of sealing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, QuerySet

from timemachine.core.pure.clock import now
from timemachine.evidence.models import COMPARISON, Seal, SealedRecord, SealedResults
from timemachine.evidence.pure.record import Record
from timemachine.evidence.sealing import comparison_records
from timemachine.evidence.sealing.comparison_records import CELL, MARK, OPINION, RESULTS, name_of
from timemachine.evidence.sealing.subjects import Subject
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.runs.models import ReplayStep

# The worker stores the outcome of a cancelled call within a second.
SETTLED_AFTER: Final = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class ComparisonSubject(Subject):
    """A comparison. Record N is `rows[N - 1]`: cells first, then what was sealed later, in that order."""

    of = COMPARISON
    thing: Comparison
    rows: Sequence[str]
    generation: int
    ended_at: datetime | None
    is_closed: bool

    @property
    def last(self) -> int:
        return len(self.rows)

    @property
    def closed(self) -> bool:
        return self.is_closed

    @property
    def run_ended_at(self) -> datetime | None:
        return self.ended_at

    def records(self, first: int, last: int) -> Iterator[Record]:
        if first == 0:
            yield comparison_records.header(self.thing)
        places = {name: index for index, name in enumerate(self.rows, start=1)}
        yield from comparison_records.records(self.thing, self.rows[max(first, 1) - 1 : last], places)

    def row(self, index: int) -> str | None:
        return self.rows[index - 1] if index else None


def comparison_subject(comparison: Comparison) -> ComparisonSubject:
    """Return the comparison with its sealed rows, followed by those that are not sealed yet. Six queries."""
    ended, latest = run_ended_at(comparison), newest_seal(comparison)
    current = latest if latest is not None and latest.run_ended_at == ended else None
    following = latest.generation + 1 if latest is not None else 1
    sealed = _sealed(current)
    known = set(sealed)
    return ComparisonSubject(
        thing=comparison,
        rows=[*sealed, *(name for name in _rows(comparison, current) if name not in known)],
        generation=current.generation if current is not None else following,
        ended_at=ended,
        is_closed=not comparison.opinions.filter(state__in=("waiting", "asking")).exists(),
    )


def newest_seal(comparison: Comparison) -> Seal | None:
    """Return the seal of the last sealed run of a comparison."""
    return Seal.objects.filter(comparison=comparison).order_by("-generation").first()


def current_seal(comparison: Comparison) -> Seal | None:
    """Return the seal of the last run; None if that is not sealed or has not finished. Three queries."""
    ended, latest = run_ended_at(comparison), newest_seal(comparison)
    return latest if latest is not None and latest.run_ended_at == ended else None


def run_ended_at(comparison: Comparison) -> datetime | None:
    """Return when the last of its replays finished; None while one is running."""
    if comparison.runs.filter(replay__finished_at=None).exists():
        return None
    ended: datetime | None = comparison.runs.aggregate(ended=Max("replay__finished_at"))["ended"]
    return ended


def final_opinions(opinions: QuerySet[CellOpinion]) -> QuerySet[CellOpinion]:
    """Return the opinions that will not change any more."""
    fresh = {"error_type": "cancelled", "finished_at__gt": now() - SETTLED_AFTER}
    return opinions.filter(finished_at__isnull=False).exclude(**fresh)


def _sealed(seal: Seal | None) -> list[str]:
    """Return the row names of a seal's records; an empty name for a missing record."""
    if seal is None:
        return []
    found = dict(SealedRecord.objects.filter(seal=seal, index__gt=0).values_list("index", "row"))
    return [found.get(index) or "" for index in range(1, seal.size)]


def _rows(comparison: Comparison, seal: Seal | None) -> Iterator[str]:
    steps = ReplayStep.objects.filter(replay__run__comparison=comparison)
    for step in steps.order_by("replay_id", "sequence").values_list("id", flat=True):
        yield name_of(CELL, step)
    for form in SealedResults.objects.filter(seal=seal).order_by("id").values_list("form", flat=True):
        yield name_of(RESULTS, form)
    marks = CellMark.objects.filter(comparison=comparison).order_by("created_at", "id")
    for mark in marks.values_list("id", flat=True):
        yield name_of(MARK, mark)
    opinions = final_opinions(CellOpinion.objects.filter(comparison=comparison)).order_by("finished_at", "id")
    for opinion in opinions.values_list("id", flat=True):
        yield name_of(OPINION, opinion)
