"""What is stored of a replay: its options, its steps with their leases, and every attempt at a step."""

from typing import get_args

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Action, FrozenPassage, Session
from timemachine.replay.runs.pure.options import ReplayKind
from timemachine.replay.runs.pure.statuses import (
    OPEN_REPLAY_STATUSES,
    OPEN_STEP_STATUSES,
    REPLAY_STATUSES,
    STEP_STATUSES,
)


class Replay(Enqueued):
    """A replay of a session with given options. It never changes the recorded session. A continuation has one step, the
    model call that it continues, and an attempt at it for each call that it makes."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="replays")
    kind = models.CharField(max_length=10)
    status = models.CharField(max_length=10, default="queued")
    model = FaithfulTextField(null=True)
    options = FaithfulJSONField(default=dict)
    reason = FaithfulTextField(null=True)
    requested_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    cancel_requested_by = models.CharField(max_length=254, null=True)
    # replays of one group share one spend limit
    spend_group = models.UUIDField(null=True)
    # the session that a continuation records into; None for other replays, and after it was deleted
    branch = models.ForeignKey(Session, null=True, on_delete=models.DB_SET_NULL, related_name="+")
    revision = models.BigIntegerField(default=0)

    class Meta:
        db_table = "tm_replay"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=get_args(ReplayKind)), name="replay_kind_known"),
            models.CheckConstraint(condition=Q(status__in=REPLAY_STATUSES), name="replay_status_known"),
        ]
        indexes = [
            models.Index(fields=["session", "-created_at"], name="replay_of_session"),
            models.Index(fields=["project", "-id"], name="replay_newest_first"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=OPEN_REPLAY_STATUSES), name="replay_unfinished"
            ),
            models.Index(
                fields=["spend_group"],
                condition=Q(spend_group__isnull=False),
                name="replay_of_spend_group",
            ),
        ]


class ReplayStep(Leased):
    """The result of one action in one replay. A worker writes it only with its lease token.

    `provider` is the provider whose model it calls; None if it calls none or the local one.
    """

    id = models.BigAutoField(primary_key=True)
    replay = models.ForeignKey(Replay, on_delete=models.DB_CASCADE, related_name="steps")
    action = models.ForeignKey(Action, on_delete=models.DB_CASCADE, related_name="+")
    sequence = models.BigIntegerField()
    kind = models.CharField(max_length=12)
    provider = FaithfulTextField(null=True)
    status = models.CharField(max_length=10, default="waiting")
    attempts_made = models.IntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # its model is busy: when it is tried again, and the provider's message
    asked_again_at = models.DateTimeField(null=True)
    waits_because = FaithfulTextField(null=True)

    context = models.CharField(max_length=13, null=True)
    frames = FaithfulJSONField(null=True)
    retrieval = FaithfulJSONField(null=True)
    verdict = models.CharField(max_length=20, null=True)
    evidence = FaithfulJSONField(null=True)
    output = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    model = FaithfulTextField(null=True)
    parameters = FaithfulJSONField(null=True)
    duration_ms = models.FloatField(null=True)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    total_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    prices = FaithfulJSONField(null=True)
    grounding = FaithfulJSONField(null=True)
    error_type = FaithfulTextField(null=True)
    error_message = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_replay_step"
        constraints = [
            models.UniqueConstraint(fields=["replay", "sequence"], name="replay_step_once"),
            models.CheckConstraint(condition=Q(status__in=STEP_STATUSES), name="replay_step_status_known"),
            models.CheckConstraint(
                condition=~Q(status="running") | Q(lease_token__isnull=False, lease_until__isnull=False),
                name="replay_step_running_is_leased",
            ),
        ]
        indexes = [
            models.Index(
                fields=["replay", "sequence"],
                condition=Q(status__in=OPEN_STEP_STATUSES),
                name="replay_step_open",
            ),
            models.Index(
                fields=["provider"],
                condition=Q(status="running", provider__isnull=False),
                name="replay_step_calls",
            ),
        ]


class ReplayAttempt(models.Model):
    """One attempt at a step. `call_intended_at` is set before a model is called: without an outcome, the call may have been billed."""

    step = models.ForeignKey(ReplayStep, on_delete=models.DB_CASCADE, related_name="attempts")
    number = models.IntegerField()
    lease_token = models.UUIDField()
    worker = models.CharField(max_length=200)
    started_at = models.DateTimeField(db_default=Now())
    call_intended_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, null=True)
    calls_made = models.IntegerField(null=True)
    # what the call was expected to cost, under a spend limit
    reserved_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    error_message = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_replay_attempt"
        constraints = [
            models.UniqueConstraint(fields=["step", "number"], name="replay_attempt_once"),
            models.CheckConstraint(
                condition=Q(outcome=None) | Q(outcome__in=("done", "failed", "lost", "cancelled")),
                name="replay_attempt_outcome_known",
            ),
        ]


class ExtraCall(models.Model):
    """A call outside any step that counts towards the spend limit of a group of replays: a judge's, by the id of its row.

    `cost_usd` is its actual cost; while it is None, the reserved cost counts (None if it could not be
    estimated).
    """

    id = models.UUIDField(primary_key=True)
    spend_group = models.UUIDField()
    reserved_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    lost_after = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_call_beside"
        indexes = [models.Index(fields=["spend_group"], name="call_beside_of_spend_group")]


class ReplayHit(FrozenPassage):
    """A passage that a replay found."""

    step = models.ForeignKey(ReplayStep, on_delete=models.DB_CASCADE, related_name="hits")

    class Meta:
        db_table = "tm_replay_hit"
        constraints = [models.UniqueConstraint(fields=["step", "rank"], name="replay_hit_rank_once")]
