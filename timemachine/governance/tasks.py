"""The jobs of the audit log, deletion and sharing."""

from datetime import timedelta
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.jobs import Next, job
from timemachine.governance.audit_log import commands as audit_log
from timemachine.governance.audit_log import queries as audit_queries
from timemachine.governance.deletion.erasure import commands as erasures
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.deletion.retention import commands as deletions
from timemachine.governance.deletion.retention import retention
from timemachine.governance.deletion.retention.models import BulkDeletion
from timemachine.governance.sharing import log


@job(of=Erasure, overdue=erasures.overdue)
def run_erasure(erasure_id: UUID) -> None:
    """Scan a session for what is to be erased, or erase it."""
    erasures.work(erasure_id)


@job(of=BulkDeletion, overdue=deletions.overdue, at_start=True)
def run_deletion(deletion_id: UUID) -> None:
    """Delete the sessions of a bulk deletion."""
    deletions.work(deletion_id)


@job(every=timedelta(hours=1))
def run_retention() -> Next:
    """Start what retention rules delete now."""
    return [(run_deletion, each) for each in retention.run_rules()]


@job(of=Project, overdue=log.projects_to_commit)
def commit_access_logs(project_id: UUID) -> None:
    """Commit the state of a project's access logs to its log."""
    log.commit(project_id)


@job(of=Project, overdue=audit_log.projects_to_chain)
def chain_audit_log(project_id: UUID) -> None:
    """Give the newest events of a project's audit log their places in its chain."""
    audit_log.chain(project_id)


@job(of=Project, overdue=audit_queries.projects_to_forward)
def forward_audit_log(project_id: UUID) -> None:
    """Send the events of a project's audit log to the destinations that the operator configured."""
    audit_log.forward(project_id)
