"""What is stored of a comparison: its variants, their replays, ratings, judge verdicts, and results."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.clock import now
from timemachine.core.pure.ids import uuid7
from timemachine.replay.runs.models import Replay, ReplayStep

WITHDRAWN = "withdrawn"
MARKS = ("equivalent", "contradicts", "better", "worse", WITHDRAWN)
OPINION_STATES = ("waiting", "asking", "done", "failed", "lost", "cancelled")


class Comparison(models.Model):
    """Several variants over the same frozen contexts. A trigger deletes it with the last of its replays."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    arms = FaithfulJSONField()
    repeats = models.IntegerField(default=1)
    noise_floor = models.BooleanField(default=False)
    spend_limit_usd = models.FloatField(null=True)
    reason = FaithfulTextField()
    requested_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_comparison"
        indexes = [models.Index(fields=["project", "-id"], name="comparison_newest_first")]


class ComparisonReplay(models.Model):
    """The replay of one run of a variant. `repeat` counts from 1; 0 is the noise floor, the variant against itself."""

    comparison = models.ForeignKey(Comparison, on_delete=models.DB_CASCADE, related_name="runs")
    replay = models.OneToOneField(Replay, on_delete=models.DB_CASCADE, related_name="run")
    arm = models.IntegerField()
    repeat = models.IntegerField()

    class Meta:
        db_table = "tm_comparison_replay"
        constraints = [
            models.CheckConstraint(condition=Q(arm__gte=1, arm__lte=8), name="comparison_arm_1_to_8"),
            models.CheckConstraint(condition=Q(repeat__gte=0), name="comparison_repeat_from_0"),
        ]


class CellMark(models.Model):
    """A person's rating of a cell. Rows never change: the person's latest rating counts, earlier ones are history."""

    comparison = models.ForeignKey(Comparison, on_delete=models.DB_CASCADE, related_name="marks")
    step = models.ForeignKey(ReplayStep, on_delete=models.DB_CASCADE, related_name="marks")
    verdict = models.CharField(max_length=12)
    note = FaithfulTextField(default="", blank=True)
    marked_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_cell_mark"
        constraints = [models.CheckConstraint(condition=Q(verdict__in=MARKS), name="cell_mark_known")]


class CellOpinion(models.Model):
    """A judge model's verdict on the recorded and the new answer of a cell, asked twice with the answers in either order.

    `relation` is `equivalent`, `contradicts` or `different`; `preference` is `better`, `worse` or `neither`
    (of the new answer). Either is `undecided` if the two orders disagree. `asked` holds both orders with what
    was read from each reply. `cost_usd` is the known cost, None if nothing is known; it leaves out the
    `unknown_cost_calls`, which include those that may have been billed.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    comparison = models.ForeignKey(Comparison, on_delete=models.DB_CASCADE, related_name="opinions")
    step = models.ForeignKey(ReplayStep, on_delete=models.DB_CASCADE, related_name="opinions")
    model = FaithfulTextField()
    state = models.CharField(max_length=10, default="waiting")
    relation = models.CharField(max_length=12, null=True)
    preference = models.CharField(max_length=12, null=True)
    asked = FaithfulJSONField(null=True)
    prompt_template = models.CharField(max_length=40, null=True)
    prompt = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    raw = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    usage = FaithfulJSONField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    calls_made = models.IntegerField(default=0)
    unknown_cost_calls = models.IntegerField(default=0, db_default=0)
    error_type = FaithfulTextField(null=True)
    error_message = FaithfulTextField(null=True)
    requested_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    asked_at = models.DateTimeField(null=True)
    # its model is busy: when it is tried again, and the provider's message
    asked_again_at = models.DateTimeField(null=True)
    waits_because = FaithfulTextField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_cell_opinion"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=OPINION_STATES), name="cell_opinion_state_known"),
            models.UniqueConstraint(
                fields=["step", "model"],
                condition=Q(state__in=("waiting", "asking")),
                name="cell_opinion_asked_once_at_a_time",
            ),
        ]

    @property
    def waits(self) -> bool:
        """Return whether its model is busy and is tried again later."""
        asked_again_at = self.asked_again_at
        return self.state == "asking" and asked_again_at is not None and asked_again_at > now()


class ComparisonFindings(Leased, Enqueued):
    """The stored results of a comparison. `cells` identifies the answers they are of; None until they are computed.

    A trigger deletes it with any of the replays. Ratings and judge verdicts are not part of it: they change
    no number.
    """

    comparison = models.OneToOneField(
        Comparison, primary_key=True, on_delete=models.DB_CASCADE, related_name="findings"
    )
    cells = models.CharField(max_length=80, null=True)
    content = models.TextField(null=True)
    answers = models.IntegerField(default=0)
    computed_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)

    class Meta:
        db_table = "tm_comparison_findings"
        constraints = [
            models.CheckConstraint(
                condition=Q(cells=None, content=None, computed_at=None)
                | Q(cells__isnull=False, content__isnull=False, computed_at__isnull=False),
                name="comparison_findings_whole_or_none",
            )
        ]
