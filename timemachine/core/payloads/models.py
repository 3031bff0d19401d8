"""Stored bytes, each once per project."""

from django.db import models
from django.db.models.functions import Length, Now

from timemachine.core.accounts.models import Project


class Payload(models.Model):
    """Bytes of one project under their SHA-256. A passage that was retrieved a thousand times is stored once."""

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False
    )  # found by `payload_once`
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=20)
    data = models.BinaryField()
    size = models.GeneratedField(
        expression=Length("data"), output_field=models.BigIntegerField(), db_persist=True
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_payload"
        constraints = [
            models.UniqueConstraint(fields=["project", "sha256", "media_type"], name="payload_once"),
        ]
