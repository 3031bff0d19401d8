"""Redaction profiles. Each version is a row that never changes."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7


class RedactionProfile(models.Model):
    """One version of a project's redaction profile. Editing creates the next one; a version can only be retired."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    name = models.CharField(max_length=100)
    version = models.IntegerField()
    rules = models.JSONField()
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True)
    retired_by = models.CharField(max_length=254, null=True)

    class Meta:
        db_table = "tm_redaction_profile"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name", "version"], name="redaction_profile_version_once"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="redaction_profile_counted_from_one"),
            models.CheckConstraint(
                condition=Q(retired_at=None, retired_by=None)
                | Q(retired_at__isnull=False, retired_by__isnull=False),
                name="redaction_profile_retired_by_somebody",
            ),
        ]
