"""How far the audit log was forwarded."""

from django.db import models
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project


class AuditForwarding(models.Model):
    """How many events of a project one destination has accepted. After an error it is tried again at `next_at`."""

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    destination = models.CharField(max_length=10)
    sequence = models.BigIntegerField(default=0)
    attempts = models.IntegerField(default=0)
    problem = models.TextField(null=True)
    next_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_audit_forwarding"
        constraints = [
            models.UniqueConstraint(fields=["project", "destination"], name="audit_forwarding_once"),
        ]
