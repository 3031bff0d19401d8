"""Which session a trace belongs to, as far as its spans have named one."""

from django.db import models

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session


class Trace(models.Model):
    """A trace of which spans arrived. `own` is true while no span has named a session, so that the trace has one of its own."""

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    trace = models.CharField(max_length=32)
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="traces")
    own = models.BooleanField(default=True)

    class Meta:
        db_table = "tm_trace"
        constraints = [models.UniqueConstraint(fields=["project", "trace"], name="trace_once")]

    def __str__(self) -> str:
        return self.trace
