"""What is stored of a sweep: its grid, and a row for each setting with its lease and result."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session

SWEEP_STATUSES = ("queued", "running", "done", "failed", "cancelled")
ROW_STATUSES = ("waiting", "running", "done", "failed", "cancelled")
TERMINAL_ROW_STATUSES = ("done", "failed", "cancelled")


class Sweep(Enqueued):
    """Retrieval with every setting of a grid over all finds and asks of a session. Nothing is written into the session.

    `steps` are the sequences that are measured; `tokenizer` counts the tokens.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="sweeps")
    status = models.CharField(max_length=10, default="queued")
    grid = FaithfulJSONField(default=dict)
    steps = FaithfulJSONField(default=list)
    tokenizer = models.CharField(max_length=200)
    requested_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    began_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    revision = models.BigIntegerField(default=0)

    class Meta:
        db_table = "tm_sweep"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=SWEEP_STATUSES), name="sweep_status_known")
        ]
        indexes = [
            models.Index(fields=["session", "-created_at"], name="sweep_of_session"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=("queued", "running")), name="sweep_unfinished"
            ),
        ]


class SweepRow(Leased):
    """One setting of a sweep. A worker writes it only with its lease token."""

    sweep = models.ForeignKey(Sweep, on_delete=models.DB_CASCADE, related_name="rows")
    number = models.IntegerField()
    setting = FaithfulJSONField()
    status = models.CharField(max_length=10, default="waiting")
    attempts_made = models.IntegerField(default=0)
    result = FaithfulJSONField(null=True)
    error_message = models.TextField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_sweep_row"
        constraints = [
            models.UniqueConstraint(fields=["sweep", "number"], name="sweep_row_once"),
            models.CheckConstraint(condition=Q(status__in=ROW_STATUSES), name="sweep_row_status_known"),
            models.CheckConstraint(
                condition=~Q(status="running") | Q(lease_token__isnull=False, lease_until__isnull=False),
                name="sweep_row_running_is_leased",
            ),
        ]
