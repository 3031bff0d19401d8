"""Forwarding: each destination gets every event of the chain at least once, in order."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Max, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.audit.models import AuditEvent
from timemachine.core.database import lock_if_free
from timemachine.core.pure.clock import now
from timemachine.governance.audit_log.destinations import NotAccepted, configured
from timemachine.governance.audit_log.models import AuditForwarding

BATCH: Final = 500
LONGEST_WAIT: Final = timedelta(minutes=15)


def projects_to_forward() -> list[UUID]:
    """Return the projects with events that a configured destination has not accepted, and may be tried now."""
    destinations = configured()
    if not destinations:
        return []
    ends = (
        AuditEvent.objects.filter(sequence__isnull=False).values("project_id").annotate(end=Max("sequence"))
    )
    done = {(each.project_id, each.destination): each for each in AuditForwarding.objects.all()}
    return [
        row["project_id"]
        for row in ends
        if any(_is_due(done.get((row["project_id"], name)), row["end"]) for name in destinations)
    ]


def forward(project_id: UUID) -> None:
    """Send the events of a project to each configured destination. Safe to call at any time, also concurrently."""
    project = Project.objects.filter(id=project_id).first()
    if project is None:
        return
    for name, send in configured().items():
        with lock_if_free(f"forwarding of the audit log to {name} {project_id}") as is_free:
            if is_free:
                _forward(AuditForwarding.objects.get_or_create(project=project, destination=name)[0], send)


def forwardings_of(project: Project) -> list[AuditForwarding]:
    """Return how far the project's events were forwarded to each configured destination."""
    found = AuditForwarding.objects.filter(project=project, destination__in=configured())
    return list(found.order_by("destination"))


def _is_due(found: AuditForwarding | None, end: int) -> bool:
    return found is None or (found.sequence < end and found.next_at <= now())


def _forward(row: AuditForwarding, send: Callable[[Sequence[AuditEvent]], None]) -> None:
    while events := list(_remaining(row)[:BATCH]):
        try:
            send(events)
        except NotAccepted as why:
            wait = min(timedelta(seconds=10 * (1 << min(row.attempts, 10))), LONGEST_WAIT)
            row.problem, row.attempts, row.next_at = str(why)[:1000], row.attempts + 1, now() + wait
            row.save(update_fields=["problem", "attempts", "next_at"])
            return
        row.sequence, row.problem, row.attempts = events[-1].sequence or 0, None, 0
        row.save(update_fields=["sequence", "problem", "attempts"])


def _remaining(row: AuditForwarding) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(project=row.project_id, sequence__gt=row.sequence).order_by("sequence")
