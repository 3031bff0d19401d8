"""Stored bytes, each once per project."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length, Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import Sha256Field
from timemachine.core.payloads.stored import unpacked


class Payload(models.Model):
    """Bytes of one project under their SHA-256. A passage that was retrieved a thousand times is stored once.

    `stored` are the bytes as they are, or `packed` by `core.pure.packing`; `size` is their number unpacked. Read `data`,
    or in queries what `core.payloads.stored` returns.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False
    )  # found by `payload_once`
    sha256: models.Field[str, str] = Sha256Field()
    media_type = models.CharField(max_length=20)
    stored = models.BinaryField(db_column="data")
    size = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    packed = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "tm_payload"
        constraints = [
            models.UniqueConstraint(fields=["project", "sha256", "media_type"], name="payload_once"),
            # so nobody can change a size alone: that of packed bytes is checked when they are unpacked
            models.CheckConstraint(
                condition=Q(packed=False, size=Length("stored")) | Q(packed=True, size__gt=Length("stored")),
                name="payload_size_is_right",
            ),
        ]

    @property
    def data(self) -> bytes:
        """The bytes that were recorded. Raises `DamagedContent`."""
        return unpacked(self.stored, self.size, packed=self.packed)
