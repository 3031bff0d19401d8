"""The chain of a project's audit log: events get their places, and the project's evidence log commits to the last one."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.clock import now
from timemachine.evidence.log import project_log
from timemachine.governance.audit_log.pure.lines import BEFORE_THE_FIRST
from timemachine.governance.audit_log.queries import end_of_chain, line_of

CHAINED_AFTER: Final = timedelta(seconds=30)
_AT_ONCE: Final = 2_000
_CHAIN: Final = ("sequence", "previous_sha256", "sha256")


def chain(project_id: UUID) -> int:
    """Give every event that has no place one, in the order in which they were written, and return their number.

    Then add the end of the chain to the project's evidence log. Concurrent calls wait. Safe to call at any time.
    """
    total = 0
    while chained := _chain_some(project_id):
        total += chained
        if chained < _AT_ONCE:
            break
    return total


def projects_to_chain() -> list[UUID]:
    """Return the projects with events that have waited for their place long enough for several to share a log entry."""
    waiting = AuditEvent.objects.filter(sequence=None, at__lt=now() - CHAINED_AFTER)
    return list(waiting.order_by().values_list("project_id", flat=True).distinct())


@transaction.atomic
def _chain_some(project_id: UUID) -> int:
    project = Project.objects.select_for_update(no_key=True).get(pk=project_id)
    new = list(AuditEvent.objects.filter(project=project, sequence=None).order_by("id")[:_AT_ONCE])
    if not new:
        return 0
    last = end_of_chain(project)
    sequence, previous = (last.sequence or 0, last.sha256) if last else (0, BEFORE_THE_FIRST)
    for event in new:
        sequence += 1
        event.sequence, event.previous_sha256 = sequence, previous
        event.sha256 = previous = line_of(event).sha256
    AuditEvent.objects.bulk_update(new, _CHAIN, batch_size=500)
    project_log.append(project, [{"entry": project_log.AUDIT, "lines": sequence, "sha256": str(previous)}])
    return len(new)
