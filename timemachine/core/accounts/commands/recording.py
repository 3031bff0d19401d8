"""What people do with their accounts, in the audit logs of their projects."""

from typing import Any

from timemachine.core.accounts.models import User
from timemachine.core.audit.commands import record
from timemachine.core.audit.pure.actions import Action
from timemachine.core.row_security import rows_of_every_project


@rows_of_every_project()
def record_of_person(
    person: User, action: Action, *, by_person: bool = True, by: str = "", **facts: Any
) -> None:
    """Add an event about a person to the audit log of each of this person's projects. The actor is `by` if given; otherwise
    the person, or that of this request unless it was done `by_person`.
    """
    by = by or (person.email if by_person else "")
    for project in person.memberships.values_list("project_id", flat=True):
        record(project, action, "person", person.email, by=by, **facts)
