"""How far the audit log was forwarded."""

from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project

WEBHOOK: Final = "webhook"
SYSLOG: Final = "syslog"


class AuditForwarding(models.Model):
    """How many events of a project one destination has accepted. It is not tried before `next_at`.

    `problem` says why it has not accepted them since `failing_since`; both are null if it accepts them.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    destination = models.CharField(max_length=10)
    sequence = models.BigIntegerField(default=0)
    attempts = models.IntegerField(default=0)
    problem = models.TextField(null=True)
    failing_since = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_audit_forwarding"
        constraints = [
            models.UniqueConstraint(fields=["project", "destination"], name="audit_forwarding_once"),
            models.CheckConstraint(
                condition=Q(destination__in=[WEBHOOK, SYSLOG]), name="audit_forwarding_to_a_known_destination"
            ),
        ]
