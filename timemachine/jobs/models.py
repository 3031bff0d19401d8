"""What an operator sees of the workers: which of them run, and how much work waits."""

from django.db import models

from timemachine.core.pure.ids import uuid7


class Worker(models.Model):
    """A running worker. It writes `seen_at` every few seconds, and deletes its row when it stops; a killed one does neither."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    host = models.TextField()
    process = models.BigIntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        db_table = "tm_worker"


class JobBacklog(models.Model):
    """How much work a job had at the last sweep. `held` and `expired` count its leases, and those whose worker was lost; None if
    its rows have none. `oldest_since` is when the longest waiting work was requested; None if nothing waits, or if that is
    not stored.
    """

    job = models.CharField(max_length=100, primary_key=True)
    waiting = models.BigIntegerField()
    held = models.BigIntegerField(null=True)
    expired = models.BigIntegerField(null=True)
    oldest_since = models.DateTimeField(null=True)
    measured_at = models.DateTimeField()

    class Meta:
        db_table = "tm_job_backlog"
