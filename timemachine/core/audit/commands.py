"""Recording what happened, in the transaction of what happened."""

from typing import Any
from uuid import UUID

from django.db.models import Model

from timemachine.core.audit.caller import caller
from timemachine.core.audit.models import AuditEvent
from timemachine.core.audit.pure.actions import Action
from timemachine.core.pure.log_context import current


def record(
    project: Model | UUID,
    action: Action,
    target_type: str = "",
    target_id: object = "",
    *,
    by: str = "",
    network: str | None = None,
    **facts: Any,
) -> None:
    """Add an event to the audit log of a project (itself or its id), in the transaction of what it is about.

    Args:

        target_type: What it was done to, such as `session`, and `target_id` which one.
        by: Who did it, if that is not who acts in this request.
        network: What is stored instead of the address, for visitors whose address is not stored.
        facts: What else is worth knowing, as JSON. Never recorded text: it could not be erased here.
    """
    who = caller()
    AuditEvent.objects.create(
        project_id=project.pk if isinstance(project, Model) else project,
        action=action,
        actor=(by or who.actor)[:254],
        address=network or who.address,
        request_id=current().request_id,
        target_type=target_type,
        target_id=str(target_id)[:254],
        facts=facts or None,
    )
