"""The results of a comparison, computed once and stored: by a worker, or immediately if there are few answers."""

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
from timemachine.replay.comparison.pure.findings import FORM, Findings, findings, read, written
from timemachine.replay.comparison.queries import asks_of

# Up to this many answers are computed during a request; that takes some 100 ms.
FEW: Final = 200
_LOOK_AGAIN_AFTER: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The findings over the `answers` that existed at `computed_at`; None if nothing was computed.

    `state` is `current`; `under_way` if answers arrived since, or nothing was computed yet; `failed` if a
    worker failed too often; `not_yet` while the comparison is running and no partial results were requested.
    If `due`, the caller enqueues the computation. The asks have no questions, names and errors
    (`queries.with_texts` adds them).
    """

    findings: Findings | None = None
    state: str = "not_yet"
    answers: int | None = None
    computed_at: datetime | None = None
    due: bool = False


def revision_of(comparison: Comparison) -> str:
    """Return a text that changes when other results are stored. Nothing is computed or read."""
    rows = ComparisonFindings.objects.filter(comparison=comparison).values_list("cells", "attempts")
    cells, attempts = rows.first() or (None, 0)
    return f"{cells or ''}.{attempts >= MOST_ATTEMPTS:d}"


def results_of(comparison: Comparison, progress: Progress, *, so_far: bool = False) -> Results:
    """Return the stored results. If answers arrived since, few are computed immediately; for many, the caller enqueues the job.

    While the comparison is running there are none, unless partial results are requested with `so_far`; these
    may be some seconds old.
    """
    if not progress.all_finished and not so_far:
        return Results()
    row = ComparisonFindings.objects.filter(comparison=comparison).first()
    current = row is not None and row.cells == _key(progress)
    if not current and progress.total <= FEW:
        return compute(comparison, progress)
    return _of_row(row, current=current, finished=progress.all_finished)


def stored_findings(comparison: Comparison, progress: Progress) -> Findings | None:
    """Return the stored findings of exactly these answers; None if there are none."""
    row = ComparisonFindings.objects.filter(comparison=comparison).first()
    if row is None or row.content is None or row.cells != _key(progress):
        return None
    return read(row.content)


def are_altered(comparison: Comparison) -> bool:
    """Return whether the stored results are of its present answers but not what these give. Computes them again."""
    row = ComparisonFindings.objects.filter(comparison=comparison).first()
    if row is None or row.content is None or row.cells != _key(progress_of([comparison])[comparison.id]):
        return False
    found = findings(asks_of(comparison), len(comparison.arms), noise_floor=comparison.noise_floor)
    return read(row.content) != read(written(found))


def current_results(comparison: Comparison, progress: Progress) -> Results:
    """Return the stored results if they are current, or compute them now, however long that takes. For exports."""
    found = results_of(comparison, progress, so_far=True)
    return found if found.state == "current" else compute(comparison, progress)


def compute(comparison: Comparison, progress: Progress) -> Results:
    """Compute and store the results of at least the answers that `progress` counts."""
    found = findings(asks_of(comparison), len(comparison.arms), noise_floor=comparison.noise_floor)
    moment = now()
    with transaction.atomic():
        # If one of its sessions was erased in the meantime, the result is not stored.
        if Comparison.objects.select_for_update(no_key=True).filter(id=comparison.id).exists():
            stored = {
                "cells": _key(progress),
                "content": written(found),
                "answers": progress.finished,
                "computed_at": moment,
                "attempts": 0,
                "enqueued_at": None,
            }
            ComparisonFindings.objects.update_or_create(comparison=comparison, defaults=stored)
    return Results(findings=found, state="current", answers=progress.finished, computed_at=moment)


def compute_if_due(comparison_id: UUID) -> None:
    """Compute the results if they are not current. Safe to run twice; does nothing if the comparison was erased in the meantime."""
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
            compute(comparison, progress)


def allow_retry(comparison: Comparison) -> None:
    """Let a worker try again after it failed too often: the answers change, so the cause may no longer exist."""
    ComparisonFindings.objects.filter(comparison=comparison).update(attempts=0, enqueued_at=None)


def finished_with(replay_id: UUID) -> list[UUID]:
    """Return the comparison of that replay if all its replays have finished; its results are due then."""
    of_it = ComparisonReplay.objects.filter(replay_id=replay_id).values("comparison_id")
    runs = ComparisonReplay.objects.filter(comparison_id__in=of_it)
    if not runs or runs.filter(replay__finished_at=None).exists():
        return []
    return [runs[0].comparison_id]


def is_due(comparison_id: UUID) -> bool:
    """Return whether to enqueue a worker. Of many waiting pages, one does."""
    ComparisonFindings.objects.get_or_create(comparison_id=comparison_id)
    return bool(mark_enqueued(_open().filter(comparison_id=comparison_id)))


def overdue() -> QuerySet[ComparisonFindings]:
    """Return the findings that were enqueued or begun but never finished."""
    return _open().filter(Q(enqueued_at__isnull=False) | Q(lease_until__isnull=False))


def _open() -> QuerySet[ComparisonFindings]:
    return ComparisonFindings.objects.filter(attempts__lt=MOST_ATTEMPTS)


def _of_row(row: ComparisonFindings | None, *, current: bool, finished: bool) -> Results:
    if row is None:
        return Results(state="under_way", due=True)
    given_up = not current and row.attempts >= MOST_ATTEMPTS
    old = row.computed_at is None or row.computed_at < now() - _LOOK_AGAIN_AFTER
    return Results(
        findings=None if row.content is None else read(row.content),
        state="current" if current else "failed" if given_up else "under_way",
        answers=None if row.content is None else row.answers,
        computed_at=row.computed_at,
        due=not current and not given_up and (finished or old),
    )


def _key(progress: Progress) -> str:
    return f"{FORM}-{progress.cells}-{progress.total}"
