"""What we keep of forgetting: deletions in bulk with the sessions of each, and the project's retention rules."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7

FOUND, RUNNING, DONE, CANCELLED = "found", "running", "done", "cancelled"
STATUSES = (FOUND, RUNNING, DONE, CANCELLED)
WAITING, ERASED, HELD, CHANGED, GONE, FAILED = "waiting", "erased", "held", "changed", "gone", "failed"
STATES = (WAITING, ERASED, HELD, CHANGED, GONE, FAILED)
OVER = (DONE, CANCELLED)


class RetentionRule(models.Model):
    """How long sessions are kept: those of an agent, with a tag, both, or all of the project; `days` after they ended, None for good.

    One that was removed stays as history.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    agent = FaithfulTextField(blank=True, default="")
    tag = FaithfulTextField(blank=True, default="")
    days = models.IntegerField(null=True)
    reason = FaithfulTextField(blank=True, default="")
    set_by = models.CharField(max_length=254)
    set_at = models.DateTimeField(db_default=Now())
    ran_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=254, null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_retention_rule"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "agent", "tag"],
                condition=Q(removed_at=None),
                name="retention_rule_once",
            ),
            models.CheckConstraint(condition=Q(days=None) | Q(days__gte=1), name="retention_rule_of_days"),
        ]

    def __str__(self) -> str:
        return f"retention rule {self.id}"


class Forgetting(Leased, Enqueued):
    """Sessions that are deleted together: what was asked for (`wanted`), what that found, and what became of it.

    `found` waits for somebody's yes and a reason; one of a retention `rule` begins `running`. The sessions are those that
    fitted when it was made.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    rule = models.ForeignKey(RetentionRule, null=True, on_delete=models.DB_SET_NULL, related_name="runs")
    wanted = FaithfulJSONField()
    status = models.CharField(max_length=10, default=FOUND)
    reason = FaithfulTextField(null=True)
    requested_by = models.CharField(max_length=254)
    requested_at = models.DateTimeField(db_default=Now())
    confirmed_by = models.CharField(max_length=254, null=True)
    confirmed_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_forgetting"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="forgetting_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=(FOUND, CANCELLED))
                | Q(reason__isnull=False, confirmed_by__isnull=False),
                name="forgetting_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="forgetting_newest_first"),
            models.Index(fields=["id"], condition=Q(status=RUNNING), name="forgetting_under_way"),
        ]

    def __str__(self) -> str:
        return f"forgetting {self.id}: {self.status}"


class ForgottenSession(models.Model):
    """A session that is, or is not, deleted by a forgetting: how many turns it had when it was found, whether a summary of it stands in a

    collection and stays, and what became of it.
    """

    id = models.BigAutoField(primary_key=True)
    forgetting = models.ForeignKey(Forgetting, on_delete=models.DB_CASCADE, related_name="sessions")
    session = models.UUIDField()
    turns = models.BigIntegerField()
    summarised = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=10, default=WAITING)
    problem = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_forgotten_session"
        constraints = [
            models.UniqueConstraint(fields=["forgetting", "session"], name="forgotten_session_once"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="forgotten_session_state_known"),
        ]
        indexes = [
            models.Index(fields=["forgetting", "state", "id"], name="forgotten_session_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.session}: {self.state}"
