"""Files that a worker imports: the content until the import finishes, the progress and the result."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased, Measured
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STATUSES = (WAITING, RUNNING, DONE, FAILED)


class FileWork(Leased, Enqueued, Measured):
    """A file that a worker reads, its progress and its result. `done` of `total` parts are recorded; `total` is None until
    the file was read."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    name = FaithfulTextField()
    put_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    began_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=10, default=WAITING)
    error_code = models.CharField(max_length=60, null=True)
    error_message = FaithfulTextField(null=True)
    finished_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    revision = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class FileImport(FileWork):
    """A file waiting to be imported, being imported, or imported. Its parts are actions.

    A file that fits into one part is in `data`; a larger one is in `parts`. Both are empty once the import has
    finished: content that is erased from sessions must not survive in a file. For the same reason `sessions` holds
    ids and counts only, no text.
    """

    format = models.CharField(max_length=30)
    data = models.BinaryField()
    size = models.BigIntegerField()
    sessions = models.JSONField(default=list)
    report = FaithfulJSONField(null=True)

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


class FilePart(models.Model):
    """One part of a large file; `number` counts from 1. The parts are deleted when their import finishes."""

    id = models.BigAutoField(primary_key=True)
    file_import = models.ForeignKey(FileImport, on_delete=models.DB_CASCADE, related_name="parts")
    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        db_table = "tm_file_part"
        constraints = [models.UniqueConstraint(fields=["file_import", "number"], name="file_part_once")]
