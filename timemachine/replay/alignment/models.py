"""What is stored of diffs that take too long for a page."""

from django.db import models
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session


class LongDiff(Leased, Enqueued):
    """The diff of one value of two steps. `rows` is None until a worker computed it.

    Then `rows` is a list of the rows of a text, or an object with the changes of JSON, and `distinctions` holds
    the numbers and names of only one side. A run is the id of a session or a replay. `sha256` is that of both
    texts: if a step changes, it gets another row. The row is deleted with either session.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    left_session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    right_session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    left_run = models.UUIDField()
    right_run = models.UUIDField()
    left_sequence = models.BigIntegerField()
    right_sequence = models.BigIntegerField()
    value = models.CharField(max_length=10)
    sha256 = models.CharField(max_length=64)
    rows = FaithfulJSONField(null=True)
    distinctions = FaithfulJSONField(null=True)
    attempts = models.IntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_long_diff"
        constraints = [
            models.UniqueConstraint(
                fields=["left_run", "right_run", "left_sequence", "right_sequence", "value", "sha256"],
                name="long_diff_once",
            ),
            models.CheckConstraint(
                condition=models.Q(value__in=("input", "output", "error")), name="long_diff_value_known"
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="long_diff_by_age")]
