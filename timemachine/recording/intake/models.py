"""An uploaded file, its progress and its result."""

from django.db import models
from django.db.models import Q

from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.knowledge.models import Collection, Source
from timemachine.recording.importing.models import FAILED, STATUSES, FileWork
from timemachine.recording.sessions.models import Session


class Intake(FileWork):
    """A file that a worker puts into a collection, passage by passage."""

    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="intakes")
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    recorded = models.BooleanField(default=False)
    title = FaithfulTextField(blank=True)
    uri = FaithfulTextField(blank=True)
    replace = models.BooleanField(default=False)
    payload = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    source = models.ForeignKey(Source, null=True, on_delete=models.DB_SET_NULL, related_name="intakes")
    new = models.BigIntegerField(default=0)
    already_there = models.BigIntegerField(default=0)
    ended = models.BigIntegerField(default=0)
    skipped = FaithfulJSONField(default=list)
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.CharField(max_length=254, blank=True)

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
