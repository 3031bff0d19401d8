"""What the figures of a comparison show, computed once and kept: by a worker, or at once where there are few answers."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet

from timemachine.core.leases import MOST_ATTEMPTS, holding, mark_enqueued
from timemachine.core.pure.clock import now
from timemachine.replay.comparison.models import Comparison, ComparisonFindings, ComparisonReplay
from timemachine.replay.comparison.progress import Progress, progress_of
from timemachine.replay.comparison.pure import findings_text
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.queries import asks_of

# So many answers are computed while somebody waits: some 100 ms.
FEW: Final = 200
_LOOK_AGAIN_AFTER: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The findings over the `answers` that were there at `computed_at`; None where nothing was computed.

    `state` is `current`; `under_way` where answers came since, or nothing was computed yet; `failed` where a worker failed at it
    too often; `not_yet` while the comparison runs and nobody asked for what there is so far. `due`: the caller is to enqueue them.
    The asks in them are without questions, names and errors (`queries.told`).
    """

    findings: Findings | None = None
    state: str = "not_yet"
    answers: int | None = None
    computed_at: datetime | None = None
    due: bool = False


def revision_of(comparison: Comparison) -> str:
    """A text that is another whenever other results are kept; nothing is computed or read."""
    rows = ComparisonFindings.objects.filter(comparison=comparison).values_list("cells", "attempts")
    cells, attempts = rows.first() or (None, 0)
    return f"{cells or ''}.{attempts >= MOST_ATTEMPTS:d}"


def results_of(comparison: Comparison, progress: Progress, *, so_far: bool = False) -> Results:
    """What is kept. Where answers came since and there are few, it is computed anew at once; where there are many, the caller enqueues it.

    While the comparison runs there are none, unless what there is `so_far` is wanted: that may be some seconds old.
    """
    if not progress.over and not so_far:
        return Results()
    row = ComparisonFindings.objects.filter(comparison=comparison).first()
    current = row is not None and row.cells == _key(progress)
    if not current and progress.total <= FEW:
        return computed(comparison, progress)
    return _of_row(row, current=current, over=progress.over)


def kept_of(comparison: Comparison, progress: Progress) -> Findings | None:
    """The findings that are kept of these answers; None where none are, or those of others."""
    row = ComparisonFindings.objects.filter(comparison=comparison).first()
    if row is None or row.content is None or row.cells != _key(progress):
        return None
    return findings_text.read(row.content)


def whole(comparison: Comparison, progress: Progress) -> Results:
    """What is kept where it is current, else computed now, however long it takes: for who takes all of it along."""
    found = results_of(comparison, progress, so_far=True)
    return found if found.state == "current" else computed(comparison, progress)


def computed(comparison: Comparison, progress: Progress) -> Results:
    """Compute and keep the results of at least the answers that `progress` knows of."""
    found = findings(asks_of(comparison), len(comparison.arms), noise_floor=comparison.noise_floor)
    moment = now()
    with transaction.atomic():
        # A session of it may be erased meanwhile: what was computed of it is not kept then.
        if Comparison.objects.select_for_update(no_key=True).filter(id=comparison.id).exists():
            _keep(comparison, progress, found, moment)
    return Results(findings=found, state="current", answers=progress.finished, computed_at=moment)


def make(comparison_id: UUID) -> None:
    """Compute the results that are not current. Safe to run twice; nothing happens where the comparison was erased meanwhile."""
    comparison = Comparison.objects.filter(id=comparison_id).first()
    if comparison is None:
        return
    ComparisonFindings.objects.get_or_create(comparison=comparison)
    rows = ComparisonFindings.objects.filter(comparison=comparison)
    with holding(rows, attempts=F("attempts") + 1) as lease:
        if lease is None:
            return
        progress = progress_of([comparison])[comparison_id]
        if rows.filter(cells=_key(progress)).exists():
            rows.update(attempts=0)
        else:
            computed(comparison, progress)


def try_again(comparison: Comparison) -> None:
    """Let a worker compute them that failed at it too often: its answers change, so what stopped it may be gone."""
    ComparisonFindings.objects.filter(comparison=comparison).update(attempts=0, enqueued_at=None)


def over_with(replay_id: UUID) -> list[UUID]:
    """The comparison of that replay, where all of it is over; its results are due then."""
    of_it = ComparisonReplay.objects.filter(replay_id=replay_id).values("comparison_id")
    runs = ComparisonReplay.objects.filter(comparison_id__in=of_it)
    if not runs or runs.filter(replay__finished_at=None).exists():
        return []
    return [runs[0].comparison_id]


def is_due(comparison_id: UUID) -> bool:
    """Return whether a worker is to be enqueued; of many pages that wait, one enqueues it."""
    ComparisonFindings.objects.get_or_create(comparison_id=comparison_id)
    return bool(mark_enqueued(_open().filter(comparison_id=comparison_id)))


def overdue() -> QuerySet[ComparisonFindings]:
    """Return the comparisons whose results were enqueued, or begun, and did not come."""
    return _open().filter(Q(enqueued_at__isnull=False) | Q(lease_until__isnull=False))


def _open() -> QuerySet[ComparisonFindings]:
    return ComparisonFindings.objects.filter(attempts__lt=MOST_ATTEMPTS)


def _of_row(row: ComparisonFindings | None, *, current: bool, over: bool) -> Results:
    if row is None:
        return Results(state="under_way", due=True)
    given_up = not current and row.attempts >= MOST_ATTEMPTS
    old = row.computed_at is None or row.computed_at < now() - _LOOK_AGAIN_AFTER
    return Results(
        findings=None if row.content is None else findings_text.read(row.content),
        state="current" if current else "failed" if given_up else "under_way",
        answers=None if row.content is None else row.answers,
        computed_at=row.computed_at,
        due=not current and not given_up and (over or old),
    )


def _keep(comparison: Comparison, progress: Progress, found: Findings, moment: datetime) -> None:
    facts = {
        "cells": _key(progress),
        "content": findings_text.written(found),
        "answers": progress.finished,
        "computed_at": moment,
        "attempts": 0,
        "enqueued_at": None,
    }
    ComparisonFindings.objects.update_or_create(comparison=comparison, defaults=facts)


def _key(progress: Progress) -> str:
    return f"{findings_text.FORM}-{progress.cells}-{progress.total}"
