"""Bulk deletions with their sessions, and the project's retention rules."""

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
FINISHED = (DONE, CANCELLED)


class RetentionRule(models.Model):
    """How long sessions are kept: those of an agent, with a tag, both, or all of the project. `days` count
    from their last activity; None keeps them.

    A removed rule stays as history.
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


class BulkDeletion(Leased, Enqueued):
    """A deletion of several sessions: the filter (`wanted`) and its state.

    `found` waits for a confirmation with a reason; one by a retention `rule` starts as `running`. The
    sessions are those that matched when it was created.
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
    began_at = models.DateTimeField(null=True)
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


class BulkDeletionSession(models.Model):
    """A session of a bulk deletion: its number of turns when it was found, whether a summary of it stays in a
    collection, and its state.
    """

    id = models.BigAutoField(primary_key=True)
    forgetting = models.ForeignKey(BulkDeletion, on_delete=models.DB_CASCADE, related_name="sessions")
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
