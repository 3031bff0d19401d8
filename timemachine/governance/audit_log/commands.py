"""The chain of a project's audit log: events get their places, the project's evidence log commits to the last one, and
events are sent to destinations in that order."""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from timemachine.core.accounts.models import Project
from timemachine.core.audit.models import AuditEvent
from timemachine.core.database import lock_if_free, lock_until_commit
from timemachine.core.pure.clock import now
from timemachine.core.pure.postgres_text import storable
from timemachine.evidence.log import project_log
from timemachine.governance.audit_log.destinations import NotAccepted, NotReached, configured
from timemachine.governance.audit_log.models import AuditForwarding
from timemachine.governance.audit_log.pure.lines import BEFORE_THE_FIRST
from timemachine.governance.audit_log.queries import end_of_chain, line_of, remaining

CHAINED_AFTER: Final = timedelta(seconds=30)
_AT_ONCE: Final = 2_000
_CHAIN: Final = ("sequence", "previous_sha256", "sha256")
BATCH: Final = 500
LONGEST_WAIT: Final = timedelta(minutes=15)

log = logging.getLogger(__name__)


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


def forward(project_id: UUID) -> None:
    """Send the events of a project to each configured destination that may be tried now. Safe to call concurrently."""
    project = Project.objects.filter(id=project_id).first()
    if project is None:
        return
    for name, send in configured().items():
        with lock_if_free(f"forwarding of the audit log to {name} {project_id}") as is_free:
            if is_free:
                _forward(_forwarding_to(name, project), send)


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


def _forwarding_to(name: str, project: Project) -> AuditForwarding:
    """Return the row of a project and a destination. A new one waits as long as those of other projects that fail."""
    failing = AuditForwarding.objects.filter(destination=name, attempts__gt=0)
    first_at = max(failing.aggregate(last=Max("next_at"))["last"] or now(), now())
    return AuditForwarding.objects.get_or_create(
        project=project, destination=name, defaults={"next_at": first_at}
    )[0]


def _forward(row: AuditForwarding, send: Callable[[Sequence[AuditEvent]], None]) -> None:
    if row.next_at > now():
        return
    while events := list(remaining(row)[:BATCH]):
        try:
            send(events)
        except NotAccepted as why:
            _postpone(row, why)
            return
        row.sequence, row.problem, row.failing_since, row.attempts = events[-1].sequence or 0, None, None, 0
        row.save(update_fields=["sequence", "problem", "failing_since", "attempts"])


@transaction.atomic
def _postpone(row: AuditForwarding, why: NotAccepted) -> None:
    """Store why the events were not accepted. If nobody answered, the events of the other projects wait as well."""
    if isinstance(why, NotReached):  # before it locks a row: two projects could wait for each other
        lock_until_commit(f"audit log cannot be forwarded by {row.destination}")
    wait = min(timedelta(seconds=10 * (1 << min(row.attempts, 10))), LONGEST_WAIT)
    row.problem, row.failing_since = storable(str(why))[:1000], row.failing_since or now()
    row.attempts, row.next_at = row.attempts + 1, now() + wait
    row.save(update_fields=["problem", "failing_since", "attempts", "next_at"])
    log.warning(
        "the audit log of project %s is not forwarded by %s: %s", row.project_id, row.destination, row.problem
    )
    if isinstance(why, NotReached):
        others = AuditForwarding.objects.filter(destination=row.destination, next_at__lt=row.next_at)
        others.update(next_at=row.next_at)
