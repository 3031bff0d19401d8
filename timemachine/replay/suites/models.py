"""What is stored of a suite: what it replays and when, its runs with their replays, and who changed it."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay, ReplayStep

RUN_STATUSES = ("running", "done", "failed", "cancelled")
EVENTS = ("created", "edited", "deleted", "skipped")


class Suite(models.Model):
    """A named set of sessions of one project with replay options. Every session is replayed with each of the `use_models`.

    `matching` describes sessions to search for at each run. `schedule_since` is when the schedule was set,
    from which its hours count; `next_run_at` is the next due time. `problem` is why the last due run could
    not start, None if it could.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    name = models.CharField(max_length=200)
    options = FaithfulJSONField(default=dict)
    matching = FaithfulJSONField(null=True)
    use_models = FaithfulJSONField(default=list)
    fail_on = FaithfulJSONField(default=list)
    schedule = models.CharField(max_length=100, null=True)
    schedule_since = models.DateTimeField(null=True)
    next_run_at = models.DateTimeField(null=True)
    problem = FaithfulTextField(null=True)
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_suite"
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="suite_name_once"),
            models.CheckConstraint(
                condition=Q(schedule=None, schedule_since=None, next_run_at=None)
                | Q(schedule__isnull=False, schedule_since__isnull=False, next_run_at__isnull=False),
                name="suite_schedule_is_due_some_time",
            ),
        ]
        indexes = [
            models.Index(fields=["next_run_at"], condition=Q(next_run_at__isnull=False), name="suite_due")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        """Return how it replays its sessions: `audit` or `debug`."""
        return "audit" if self.options.get("audit") else "debug"


class SuiteSession(models.Model):
    """A session that a suite names. If it was erased, only its key remains, so that the suite can name what is missing."""

    suite = models.ForeignKey(Suite, on_delete=models.DB_CASCADE, related_name="sessions")
    position = models.IntegerField()
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    key = models.CharField(max_length=200)

    class Meta:
        db_table = "tm_suite_session"
        constraints = [
            models.UniqueConstraint(fields=["suite", "position"], name="suite_session_position_once"),
            models.UniqueConstraint(fields=["suite", "session"], name="suite_session_once"),
        ]

    def __str__(self) -> str:
        return self.key


class SuiteRun(models.Model):
    """One run of a suite, with its options. `number` counts from 1; `previous` is the last finished run of its kind.

    `due_at` is its scheduled time, None if a person launched it. `findings` (the changes since the previous
    run) and `held` (the failed conditions) are written when it finishes, like the report. A suite has one run
    at a time.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    suite = models.ForeignKey(Suite, on_delete=models.DB_CASCADE, related_name="runs")
    number = models.IntegerField()
    status = models.CharField(max_length=10, default="running")
    options = FaithfulJSONField(default=dict)
    use_models = FaithfulJSONField(default=list)
    fail_on = FaithfulJSONField(default=list)
    previous = models.ForeignKey("self", null=True, on_delete=models.DB_SET_NULL, related_name="+")
    due_at = models.DateTimeField(null=True)
    requested_by = models.CharField(max_length=254)
    cancelled_by = models.CharField(max_length=254, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    findings = FaithfulJSONField(null=True)
    held = FaithfulJSONField(null=True)

    class Meta:
        db_table = "tm_suite_run"
        constraints = [
            models.UniqueConstraint(fields=["suite", "number"], name="suite_run_number_once"),
            models.UniqueConstraint(
                fields=["suite"], condition=Q(finished_at=None), name="suite_runs_do_not_overlap"
            ),
            models.CheckConstraint(condition=Q(status__in=RUN_STATUSES), name="suite_run_status_known"),
            models.CheckConstraint(
                condition=Q(status="running", finished_at=None)
                | ~Q(status="running") & Q(finished_at__isnull=False),
                name="suite_run_over_is_finished",
            ),
        ]

    @property
    def kind(self) -> str:
        """Return how it replayed its sessions: `audit` or `debug`."""
        return "audit" if self.options.get("audit") else "debug"


class SuiteReplay(models.Model):
    """One session with one model in one run: its replay, or why it was not replayed; neither if the session was erased since."""

    run = models.ForeignKey(SuiteRun, on_delete=models.DB_CASCADE, related_name="members")
    position = models.IntegerField()
    arm = models.IntegerField()
    key = models.CharField(max_length=200)
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    replay = models.OneToOneField(
        Replay, null=True, on_delete=models.DB_SET_NULL, related_name="suite_replay"
    )
    problem_code = models.CharField(max_length=60, null=True)
    problem = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_suite_replay"
        constraints = [
            models.UniqueConstraint(fields=["run", "position", "arm"], name="suite_replay_once"),
            models.CheckConstraint(condition=Q(arm__gte=1), name="suite_replay_arm_from_1"),
        ]


class SuiteStep(models.Model):
    """A step in the report of a finished run, next to the same step of the previous run; one of the two may be missing.

    `place` counts from 1, by session and model in recorded order; deleted steps come last.
    """

    run = models.ForeignKey(SuiteRun, on_delete=models.DB_CASCADE, related_name="report")
    place = models.IntegerField()
    change = models.CharField(max_length=20)
    before = models.ForeignKey(ReplayStep, null=True, on_delete=models.DB_CASCADE, related_name="+")
    after = models.ForeignKey(ReplayStep, null=True, on_delete=models.DB_CASCADE, related_name="+")

    class Meta:
        db_table = "tm_suite_step"
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="suite_step_place_once"),
            models.CheckConstraint(
                condition=Q(before__isnull=False) | Q(after__isnull=False), name="suite_step_is_somewhere"
            ),
        ]
        indexes = [models.Index(fields=["run", "change", "place"], name="suite_step_by_change")]


class SuiteEvent(models.Model):
    """Who created, changed or deleted a suite, and which due runs were skipped because the last one was still in progress."""

    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    suite = models.ForeignKey(Suite, null=True, on_delete=models.DB_SET_NULL, related_name="events")
    name = models.CharField(max_length=200)
    what = models.CharField(max_length=10)
    facts = FaithfulJSONField(default=dict)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_suite_event"
        constraints = [models.CheckConstraint(condition=Q(what__in=EVENTS), name="suite_event_known")]
        indexes = [
            models.Index(fields=["suite", "-id"], name="suite_event_newest"),
            models.Index(fields=["project", "-id"], name="suite_event_of_project"),
        ]
