"""What we keep of a file that a worker imports: the file until it is over, how far it is, and what it came to."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STATUSES = (WAITING, RUNNING, DONE, FAILED)


class FileImport(Leased, Enqueued):
    """One file on its way to become sessions. `done` of `total` actions are recorded; `total` is unknown until it was read.

    `data` is a file that fits into one part; a larger one lies in `parts`, and `data` is empty. Neither holds anything once it is over: what
    sessions hold may be erased from them, and must not live on in a file. For the same reason `sessions` has their ids and counts, and no word of them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    name = FaithfulTextField()
    format = models.CharField(max_length=30)
    data = models.BinaryField()
    size = models.BigIntegerField()
    put_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    status = models.CharField(max_length=10, default=WAITING)
    total = models.BigIntegerField(null=True)
    done = models.BigIntegerField(default=0)
    sessions = models.JSONField(default=list)
    report = FaithfulJSONField(null=True)
    error_code = models.CharField(max_length=60, null=True)
    error_message = FaithfulTextField(null=True)
    finished_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    revision = models.BigIntegerField(default=0)

    class Meta:
        db_table = "tm_file_import"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="file_import_status_known"),
            models.CheckConstraint(
                condition=Q(finished_at=None) | Q(data=b""), name="file_import_keeps_no_file_when_over"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(finished_at=None), name="file_import_open"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.status}"


class FilePart(models.Model):
    """So many bytes of a large file, in the order of `number`, from 1. They go by themselves with the end of their import, and there are none after it."""

    id = models.BigAutoField(primary_key=True)
    file_import = models.ForeignKey(FileImport, on_delete=models.DB_CASCADE, related_name="parts")
    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        db_table = "tm_file_part"
        constraints = [models.UniqueConstraint(fields=["file_import", "number"], name="file_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.file_import_id}"
