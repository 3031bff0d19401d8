"""An uploaded file, its progress and its result."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.models import Collection, Source
from timemachine.recording.sessions.models import Session

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STATUSES = (WAITING, RUNNING, DONE, FAILED)


class Intake(Leased, Enqueued):
    """A file that a worker puts into a collection. `done` of `total` passages are put; `total` is unknown until the file
    was read."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="intakes")
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    recorded = models.BooleanField(default=False)
    name = FaithfulTextField()
    title = FaithfulTextField(blank=True)
    uri = FaithfulTextField(blank=True)
    replace = models.BooleanField(default=False)
    payload = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    source = models.ForeignKey(Source, null=True, on_delete=models.DB_SET_NULL, related_name="intakes")
    put_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    status = models.CharField(max_length=10, default=WAITING)
    total = models.BigIntegerField(null=True)
    done = models.BigIntegerField(default=0)
    new = models.BigIntegerField(default=0)
    already_there = models.BigIntegerField(default=0)
    ended = models.BigIntegerField(default=0)
    skipped = FaithfulJSONField(default=list)
    error_code = models.CharField(max_length=60, null=True)
    error_message = FaithfulTextField(null=True)
    finished_at = models.DateTimeField(null=True)
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.CharField(max_length=254, blank=True)
    attempts = models.IntegerField(default=0)
    revision = models.BigIntegerField(default=0)

    class Meta:
        db_table = "tm_intake"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="intake_status_known"),
            models.CheckConstraint(condition=Q(done__gte=0, ended__gte=0), name="intake_counts_from_0"),
            models.CheckConstraint(
                condition=Q(dismissed_at=None) | Q(status=FAILED), name="intake_dismissed_where_failed"
            ),
        ]
        indexes = [
            models.Index(fields=["collection", "-id"], name="intake_newest_first"),
            models.Index(fields=["id"], condition=Q(finished_at=None), name="intake_open"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.status}"
