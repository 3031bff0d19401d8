"""The jobs that process recorded steps: for search and for patterns."""

from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.jobs import Next, job
from timemachine.core.pure.queue_names import INDEXING
from timemachine.memory.patterns import alerts, clustering, reader
from timemachine.memory.patterns.models import PatternAlert
from timemachine.memory.search import indexing

ENQUEUE_EVERY = 2.0
"""Minimum seconds between two enqueued indexing jobs of a project. The sweep enqueues what is recorded in between."""


@job(
    of=Project,
    queue=INDEXING,
    overdue=indexing.BACKLOG.overdue,
    at_start=True,
    only_if=indexing.BACKLOG.is_due,
    pause=ENQUEUE_EVERY,
)
def index_steps(project_id: UUID) -> Next:
    """Make the steps of a project searchable, for a while; then let other jobs run. Enqueues the reading for
    patterns at the end.
    """
    return [(index_steps if indexing.index_new_steps(project_id) else read_patterns, project_id)]


@job(of=Project, queue=INDEXING, overdue=reader.BACKLOG.overdue, at_start=True, only_if=reader.BACKLOG.is_due)
def read_patterns(project_id: UUID) -> Next:
    """Read the steps of a project for patterns, for a while; then let other jobs run."""
    return [(read_patterns, project_id)] if clustering.update_patterns(project_id) else []


@job(of=PatternAlert, overdue=alerts.overdue)
def send_pattern_alert(alert_id: UUID) -> None:
    """Report to the address of a rule that a pattern occurred again."""
    alerts.deliver_alert(alert_id)
