"""What changes in evidence at somebody's wish: a comparison with the database is asked for, and made."""

from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum

from timemachine.core.leases import Lease, holding
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.evidence.models import Seal, SealCheck
from timemachine.evidence.queries import subject_of
from timemachine.evidence.sealing.checking import Comparison, compare
from timemachine.evidence.sealing.repeated_steps import repeated_by, seals_behind
from timemachine.evidence.sealing.subjects import SessionSubject
from timemachine.recording.sessions.read_snapshot import snapshot

AT_ONCE: Final = 2_000  # records that are compared while somebody waits


@transaction.atomic
def ask_for_check(seal: Seal | None, *, by: str | None) -> SealCheck:
    """A comparison that waits to be made; one that waits or runs already is the same. Raises `Conflict` where nothing is sealed."""
    if seal is None or not seal.signed_size:
        raise Conflict(
            "Nothing is sealed yet; a session is sealed when it ends, and every few minutes until then.",
            code="not_sealed",
        )
    Seal.objects.select_for_update().get(pk=seal.pk)
    waiting = SealCheck.objects.filter(seal=seal, finished_at=None).first()
    return (
        waiting
        if waiting is not None
        else SealCheck.objects.create(seal=seal, requested_by=by and by[:254], enqueued_at=now())
    )


def fits_in_a_request(seal: Seal) -> bool:
    """Whether it is compared while somebody waits."""
    behind = Seal.objects.filter(session__in=repeated_by(seal))
    return seal.size + (behind.aggregate(all=Sum("size"))["all"] or 0) <= AT_ONCE


def check(check_id: UUID) -> SealCheck | None:
    """Make a comparison; None where it was erased. Safe to do twice: one at a time makes it."""
    with holding(overdue().filter(id=check_id), started_at=now()) as lease:
        if lease is not None:
            _make(lease)
    return SealCheck.objects.filter(id=check_id).first()


def overdue() -> QuerySet[SealCheck]:
    """Return the comparisons that are still to be made."""
    return SealCheck.objects.filter(finished_at=None)


def _make(lease: Lease[SealCheck]) -> None:
    whole = ("seal__session__project", "seal__replay__session__project", "seal__comparison__project")
    with snapshot():
        found = lease.row(*whole)
        made = compare(subject_of(found.seal), found.seal)
        recorded = _repeated(made, found.seal)
    more = [{"code": "more", "index": None, "says": f"And {made.more:,} more."}] if made.more else []
    lease.write(
        finished_at=now(),
        records=made.records,
        recorded=recorded,
        problems=made.problems + more,
        erased=made.erased,
    )


def _repeated(made: Comparison, seal: Seal) -> int:
    """Compare the recorded steps that a replay or comparison repeats as well, for its evidence brings them; how many records those are."""
    number = 0
    for session, behind, shown in seals_behind(seal):
        found = compare(SessionSubject(session), behind, frozenset(shown))
        number += found.records
        made.erased += found.erased
        made.more += found.more
        for each in found.problems:
            made.problem(**each, session=session.id)
    return number
