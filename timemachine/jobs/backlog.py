"""How much work waits, measured by each sweep, so that metrics and health checks only read a few rows."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.db.models import Count, Min, Q, QuerySet

from timemachine.core.jobs import JOBS, Job
from timemachine.core.leases import Leased, is_free
from timemachine.core.pure.clock import now
from timemachine.jobs.models import JobBacklog

_REQUESTED: Final = ("requested_at", "created_at")
"""Fields that say since when a row waits."""
_MEASURED: Final = ("waiting", "held", "expired", "oldest_since", "measured_at")


def measure(job: Job, found: QuerySet[Any, Any] | Sequence[Any]) -> JobBacklog:
    """Return how much work there is, given the overdue rows or ids of a job."""
    moment = now()
    if not isinstance(found, QuerySet):
        return JobBacklog(job=job.name, waiting=len(found), measured_at=moment)
    has_leases = issubclass(found.model, Leased)
    free = is_free() if has_leases else Q()
    counts: dict[str, Any] = {"waiting": Count("pk", filter=free)}
    if has_leases:
        counts["held"] = Count("pk", filter=Q(lease_until__gte=moment))
        counts["expired"] = Count("pk", filter=Q(lease_until__lt=moment))
    fields = {field.name for field in found.model._meta.get_fields()}
    requested = next((name for name in _REQUESTED if name in fields), None)
    if requested:
        counts["oldest_since"] = Min(requested, filter=free)
    measured = found.order_by().aggregate(**counts)
    return JobBacklog(job=job.name, measured_at=moment, **measured)


def store(rows: Iterable[JobBacklog]) -> None:
    """Replace what the last sweep stored about these jobs, and forget jobs that no longer exist."""
    ordered = sorted(rows, key=lambda row: row.job)  # so that two sweeps do not deadlock
    JobBacklog.objects.bulk_create(
        ordered, update_conflicts=True, unique_fields=["job"], update_fields=list(_MEASURED)
    )
    JobBacklog.objects.exclude(job__in=list(JOBS)).delete()
