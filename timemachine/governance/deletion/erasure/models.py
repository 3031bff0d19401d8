"""Erasures: what was selected, what would be erased, and that it was done. Nothing of what was erased."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased, Measured
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session

LOOKING, FOUND, ERASING, DONE = "looking", "found", "erasing", "done"
STATUSES = (LOOKING, FOUND, ERASING, DONE)
UNDER_WAY = (LOOKING, ERASING)


class Erasure(Leased, Enqueued, Measured):
    """An erasure of fields of a session: scanned (`looking`, `found`), then erased (`erasing`, `done`).

    `fields` are paths and `steps` the sequences that they apply to (none: every step), or `profile` is a
    version of a redaction profile. Its parts are the steps that it reads. A `turn` is deleted completely: its step stays as a tombstone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="erasures")
    profile = FaithfulJSONField(null=True)
    fields = FaithfulJSONField(default=list)
    steps = FaithfulJSONField(default=list)
    turn = models.BooleanField(default=False, db_default=False)
    status = models.CharField(max_length=10, default=LOOKING)
    preview = FaithfulJSONField(null=True)
    result = FaithfulJSONField(null=True)
    problem = FaithfulTextField(null=True)
    reason = FaithfulTextField(null=True)
    requested_by = models.CharField(max_length=254)
    requested_at = models.DateTimeField(db_default=Now())
    confirmed_by = models.CharField(max_length=254, null=True)
    confirmed_at = models.DateTimeField(null=True)
    began_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_erasure"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="erasure_status_known"),
            models.CheckConstraint(
                condition=~Q(status__in=(ERASING, DONE))
                | Q(reason__isnull=False, confirmed_by__isnull=False, confirmed_at__isnull=False),
                name="erasure_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "-id"], name="erasure_newest_first"),
            models.Index(fields=["id"], condition=Q(status__in=UNDER_WAY), name="erasure_under_way"),
        ]

    @property
    def is_under_way(self) -> bool:
        """Return whether a worker has something to do: scan the session, or erase what was confirmed."""
        return self.status in UNDER_WAY
