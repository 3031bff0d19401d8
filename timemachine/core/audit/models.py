"""The events of the audit log."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class AuditEvent(models.Model):
    """One thing that a person, a program or the server did in a project.

    Events are never changed or deleted (a trigger refuses it). A job then numbers them and links each with the hash of the one
    before; it sets `sequence`, `previous_sha256` and `sha256` once. `facts` never contains recorded text, because that can be erased.
    """

    project = models.ForeignKey("timemachine.Project", on_delete=models.DO_NOTHING, related_name="+")
    at = models.DateTimeField(db_default=Now())
    action = models.CharField(max_length=40)
    actor = models.CharField(max_length=254)
    address = models.CharField(max_length=50, null=True)
    request_id = models.CharField(max_length=128, null=True)
    target_type = models.CharField(max_length=20, blank=True)
    target_id = models.CharField(max_length=254, blank=True)
    facts = models.JSONField(null=True)
    sequence = models.BigIntegerField(null=True)
    previous_sha256 = models.CharField(max_length=64, null=True)
    sha256 = models.CharField(max_length=64, null=True)

    class Meta:
        db_table = "tm_audit_event"
        indexes = [
            models.Index(fields=["project", "-id"], name="audit_event_newest_first"),
            models.Index(fields=["project", "action", "-id"], name="audit_event_of_an_action"),
            models.Index(fields=["project", "actor", "-id"], name="audit_event_of_an_actor"),
            models.Index(fields=["project", "-at"], name="audit_event_by_time"),
            models.Index(fields=["at"], condition=Q(sequence=None), name="audit_event_not_chained"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["project", "sequence"], name="audit_event_once_in_its_chain"),
            models.CheckConstraint(
                condition=Q(sequence=None, previous_sha256=None, sha256=None)
                | Q(sequence__gte=1, previous_sha256__isnull=False, sha256__isnull=False),
                name="audit_event_chained_as_a_whole",
            ),
        ]
