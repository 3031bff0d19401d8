"""What is counted of a session while it is recorded. Only triggers write these tables, in the transaction that appends.

The counts of a session are deleted with it. `tests/recording/usage/rollup` checks them against a recount of the
actions.
"""

from typing import Final

from django.db import models

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.recording.sessions.models import Session

BIN: Final = 100
"""Number of steps that are counted together: steps 1 to 100 are bin 0. The trigger uses the same number."""
LATENCY_STEP: Final = 1.05
"""Ratio between the longest and the shortest latency of a bucket. The trigger uses the same number."""


class Counted(models.Model):
    """Counts and sums of some actions.

    Tokens are None if none were recorded. US dollars cover calls whose cost is known, and are None if there are none.
    `timed` actions have a duration; `duration_ms` is their total.
    """

    number = models.BigIntegerField()
    errors = models.BigIntegerField()
    timed = models.BigIntegerField()
    duration_ms = models.FloatField()
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    unknown_cost_calls = models.BigIntegerField()
    cached_calls = models.BigIntegerField()
    saved_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    unknown_saved_calls = models.BigIntegerField()

    class Meta:
        abstract = True


class Bin(Counted):
    """The actions of one kind among `BIN` steps of a session.

    `number` counts them all. `copied` of them are no steps of the session: those that happened in another session are only
    in `number` and `folded`, corrections also in the sums. `folded` of them are inside an ask, find or put that a timeline collapses (`recording.timeline.pure.nesting`).
    `first` and `last` are their earliest start and latest end, None if no time was recorded.
    """

    pk = models.CompositePrimaryKey("session_id", "bin", "kind")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    bin = models.IntegerField()
    kind = models.CharField(max_length=12)
    copied = models.BigIntegerField()
    folded = models.BigIntegerField()
    first = models.DateTimeField(null=True)
    last = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_bin"


class Usage(Counted):
    """The actions of a session on one day (UTC) with the same kind, agent, model and tool. The day is None for imported actions
    without times.

    An action without an agent belongs to its session's agent. `key` is a fixed-size stand-in for these five values.
    """

    pk = models.CompositePrimaryKey("session_id", "key")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    key = models.UUIDField()
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    day = models.DateField(null=True)
    kind = models.CharField(max_length=12)
    agent = FaithfulTextField(null=True)
    model = FaithfulTextField(null=True)
    tool = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_usage"
        indexes = [models.Index(fields=["project", "day"], name="usage_of_day")]


class Latency(models.Model):
    """The number of actions of a usage that took from `LATENCY_STEP ** bucket` ms up to the next power."""

    pk = models.CompositePrimaryKey("session_id", "key", "bucket")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    key = models.UUIDField()
    bucket = models.SmallIntegerField()
    number = models.BigIntegerField()

    class Meta:
        db_table = "tm_latency"


class FirstUse(models.Model):
    """The step of a session that first returned a version of a frame. `key` is a fixed-size stand-in for frame and version."""

    pk = models.CompositePrimaryKey("session_id", "key")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    key = models.UUIDField()
    sequence = models.BigIntegerField()
    rank = models.IntegerField()
    frame = FaithfulJSONField()
    version = models.IntegerField(null=True)
    title = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_first_use"
        indexes = [models.Index(fields=["session", "sequence", "rank"], name="first_use_in_order")]
