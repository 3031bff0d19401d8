"""Patterns in the database: wordings and the steps with them, how far each session is read, rules, and alerts.

Everything except the rules is derived from the recorded sessions and can be computed again. It is deleted with
its steps: a trigger deletes a wording with its last step.
"""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased, ProjectWork
from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.memory.patterns.pure.step_texts import KINDS
from timemachine.recording.sessions.models import Action, Session

SAME_CALL: Final = "same_call"
CHANGED_CALL: Final = "changed_call"
SIGNIFICANT: Final = "significant"
SOLVED_BY: Final = (SIGNIFICANT, SAME_CALL, CHANGED_CALL)
DAY, WEEK, MONTH = "day", "week", "month"
WINDOWS: Final = (DAY, WEEK, MONTH)
FEWEST_SESSIONS: Final = 2
MOST_SESSIONS: Final = 1_000


class Wording(models.Model):
    """A text without the values that vary. `pattern` is the wording that it belongs to, itself if it is the
    pattern.

    A wording that is a pattern counts the steps of all its wordings: `steps` in `sessions`, of which `solved`
    were solved. `first_at` and `last_at` are None if no time of its steps is known; `undated` is of how many none
    is. `stale`: the counts are out of date.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    kind = models.CharField(max_length=10)
    digest = models.CharField(max_length=64)
    text = models.TextField()
    words = ArrayField(models.TextField())
    pattern = models.ForeignKey("self", null=True, on_delete=models.DB_SET_NULL, related_name="wordings")
    sessions = models.IntegerField(default=0)
    steps = models.IntegerField(default=0)
    solved = models.IntegerField(default=0)
    undated = models.IntegerField(default=0)
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    stale = models.BooleanField(default=True)

    class Meta:
        db_table = "tm_wording"
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "digest"], name="wording_once"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="wording_kind_known"),
        ]
        indexes = [
            models.Index(
                "project",
                F("last_at").desc(nulls_last=True),
                F("id").desc(),
                condition=Q(pattern=F("id")),
                name="pattern_newest",
            ),
            models.Index(
                fields=["project"], condition=Q(stale=True) | Q(pattern=None), name="wording_unsettled"
            ),
        ]


class PatternStep(models.Model):
    """A step with a wording. The session has no foreign key constraint, whose check would wait for a concurrent
    append.

    `at` is when it happened, None for an imported step without a time. `call` is the step with the arguments of the failed call. `solved_by` is the step of the same session that
    solved it, by the rule `solved_how`; `changed` names the arguments that differ in it.
    """

    action = models.OneToOneField(Action, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    sequence = models.BigIntegerField()
    wording = models.ForeignKey(Wording, on_delete=models.DO_NOTHING, related_name="said_by")
    at = models.DateTimeField(null=True)
    call = models.BigIntegerField(null=True)
    solved_by = models.BigIntegerField(null=True)
    solved_how = models.CharField(max_length=12, null=True)
    changed = ArrayField(FaithfulTextField(), default=list)

    class Meta:
        db_table = "tm_pattern_step"
        constraints = [
            models.CheckConstraint(
                condition=Q(solved_by=None, solved_how=None)
                | Q(solved_by__gt=F("sequence"), solved_how__in=SOLVED_BY),
                name="pattern_step_solved_later",
            )
        ]
        indexes = [
            models.Index(fields=["session", "sequence"], name="pattern_step_of_session"),
            models.Index(fields=["project", "at"], name="pattern_step_lately"),
        ]


class ReadSession(models.Model):
    """How far a session is read for patterns. The reading began at `began_at`; later changes of significance are
    not in it.

    `begun` counts restarts: a worker that read before a restart must not store its result.
    """

    session = models.OneToOneField(Session, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    read_through = models.BigIntegerField(default=0)
    begun = models.IntegerField(default=0)
    began_at = models.DateTimeField()

    class Meta:
        db_table = "tm_read_session"


class PatternReading(ProjectWork):
    """The state of reading a project for patterns.

    `regroup`: a wording was deleted, so others may belong to other patterns. The trigger that deletes it sets
    this.
    """

    regroup = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "tm_pattern_reading"


class PatternRule(models.Model):
    """When to raise an alert: a pattern occurs in this many sessions of one day, week or month (UTC). `url` is
    notified, if given.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    kind = models.CharField(max_length=10, null=True)
    sessions = models.IntegerField()
    window = models.CharField(max_length=5)
    url = models.CharField(max_length=500, blank=True)
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_pattern_rule"
        constraints = [
            models.CheckConstraint(
                condition=Q(sessions__range=(FEWEST_SESSIONS, MOST_SESSIONS)), name="pattern_rule_threshold"
            ),
            models.CheckConstraint(condition=Q(window__in=WINDOWS), name="pattern_rule_window_known"),
            models.CheckConstraint(
                condition=Q(kind=None) | Q(kind__in=KINDS), name="pattern_rule_kind_known"
            ),
        ]


class PatternAlert(Leased, Enqueued):
    """A rule was met by a pattern in the window that began at `since`, stored once. `sessions` is the number of
    sessions in that window.

    `seen_at`: someone dismissed it. `told_at` and `problem` are about the address of its rule.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    rule = models.ForeignKey(PatternRule, on_delete=models.DB_CASCADE, related_name="alerts")
    pattern = models.ForeignKey(Wording, on_delete=models.DB_CASCADE, related_name="alerts")
    since = models.DateTimeField()
    sessions = models.IntegerField()
    found_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True)
    seen_by = models.CharField(max_length=254, null=True)
    told_at = models.DateTimeField(null=True)
    problem = models.TextField(null=True)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_pattern_alert"
        constraints = [
            models.UniqueConstraint(fields=["rule", "pattern", "since"], name="pattern_alert_once")
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="pattern_alert_newest"),
            models.Index(fields=["project"], condition=Q(seen_at=None), name="pattern_alert_unseen"),
            models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="pattern_alert_due"),
        ]
