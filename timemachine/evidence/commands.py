"""Checks of a seal against the database: request one and run it."""

from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum

from timemachine.core.database import snapshot
from timemachine.core.leases import Lease, Progress, holding
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.evidence.models import Seal, SealCheck
from timemachine.evidence.queries import subject_of
from timemachine.evidence.sealing.checking import Comparison, SealProblem, compare
from timemachine.evidence.sealing.repeated_steps import repeated_seals, steps_repeated_by
from timemachine.evidence.sealing.subjects import SessionSubject

MOST_IN_A_REQUEST: Final = 2_000  # records


def check(seal: Seal | None, *, by: str | None) -> SealCheck:
    """Request a check, and run it immediately if the seal is small; otherwise the caller enqueues it. Raises what
    `request_check` raises.
    """
    requested = request_check(seal, by=by)
    if seal is not None and fits_in_a_request(seal):
        return run_check(requested.id) or requested
    return requested


@transaction.atomic
def request_check(seal: Seal | None, *, by: str | None) -> SealCheck:
    """Return a check that waits or runs already, or a new one. Raises `Conflict` if nothing is sealed."""
    if seal is None or not seal.signed_size:
        raise Conflict(
            "Nothing is sealed yet. A session is sealed when it ends, and every few minutes before that.",
            code="not_sealed",
        )
    Seal.objects.select_for_update().get(pk=seal.pk)
    waiting = SealCheck.objects.filter(seal=seal, finished_at=None).first()
    return waiting or SealCheck.objects.create(seal=seal, requested_by=by and by[:254], enqueued_at=now())


def fits_in_a_request(seal: Seal) -> bool:
    """Return whether a seal is small enough to be checked during a request."""
    return _size_of(seal) <= MOST_IN_A_REQUEST


def _size_of(seal: Seal) -> int:
    """Return how many records a check reads: those of the seal, and of the sessions that it repeats."""
    repeated = Seal.objects.filter(session__in=steps_repeated_by(seal))
    return seal.size + (repeated.aggregate(all=Sum("size"))["all"] or 0)


def run_check(check_id: UUID) -> SealCheck | None:
    """Run a check; None if it was deleted. Safe to call twice: only one caller runs it."""
    progress = Progress()
    with holding(overdue().filter(id=check_id), progress=progress, started_at=now()) as lease:
        if lease is not None:
            _run(lease, progress)
    return SealCheck.objects.filter(id=check_id).first()


def overdue() -> QuerySet[SealCheck]:
    """Return the checks that have not finished."""
    return SealCheck.objects.filter(finished_at=None)


def _run(lease: Lease[SealCheck], progress: Progress) -> None:
    related = ("seal__session__project", "seal__replay__session__project", "seal__comparison__project")
    with snapshot():
        found = lease.row(*related)
        progress.total = _size_of(found.seal)
        comparison = compare(subject_of(found.seal), found.seal, progress=progress)
        recorded = _compare_repeated(comparison, found.seal, progress)
    more = (
        [SealProblem.model_construct(code="more", index=None, says=f"And {comparison.more:,} more.")]
        if comparison.more
        else []
    )
    lease.write(
        finished_at=now(),
        records=comparison.records,
        recorded=recorded,
        problems=[each.model_dump() for each in (*comparison.problems, *more)],
        erased=comparison.erased,
    )


def _compare_repeated(comparison: Comparison, seal: Seal, progress: Progress) -> int:
    """Compare the recorded steps that a replay or comparison repeats, and return their number."""
    number = 0
    for session, repeated, shown in repeated_seals(seal):
        found = compare(SessionSubject(session), repeated, frozenset(shown), progress)
        number += found.records
        comparison.erased += found.erased
        comparison.more += found.more
        for each in found.problems:
            comparison.problem(each.code, each.says, each.index, session.id)
    return number
