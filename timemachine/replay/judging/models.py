"""What is stored of judgements: the request, the reply, and the cost. They are never part of the recorded session."""

from datetime import timedelta
from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.clock import now
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Action, Session

ASKING, DONE, FAILED, LOST = "asking", "done", "failed", "lost"
STATES = (ASKING, DONE, FAILED, LOST)
LONGEST_CALL: Final = timedelta(minutes=21)
"""Longer than all attempts of a call can take (`complete`: 4 times its 300 seconds). A row that is `asking` for longer has lost its process."""


class Judgement(models.Model):
    """One model's verdicts on the sentences of one recorded answer. The row exists before the model is called.

    `asking` is running. If its process was lost, it is shown as `lost` and may have been billed. It is never
    retried automatically.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="judgements")
    action = models.ForeignKey(Action, on_delete=models.DB_CASCADE, related_name="+")
    sequence = models.BigIntegerField()
    model = FaithfulTextField()
    state = models.CharField(max_length=10, default=ASKING)
    prompt_template = models.CharField(max_length=40)
    system_prompt = FaithfulTextField()
    prompt_sha256 = models.CharField(max_length=64)
    prompt = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    answer_sha256 = models.CharField(max_length=64)
    raw = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    sentences = FaithfulJSONField()
    parameters = FaithfulJSONField(null=True)
    usage = FaithfulJSONField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    prices = FaithfulJSONField(null=True)
    calls_made = models.IntegerField(null=True)
    duration_ms = models.FloatField(null=True)
    error_type = FaithfulTextField(null=True)
    error_message = FaithfulTextField(null=True)
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    cancel_wanted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_judgement"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=STATES), name="judgement_state_known"),
            # a form that is sent twice must not be billed twice
            models.UniqueConstraint(
                fields=["action", "model"], condition=Q(state="asking"), name="judgement_asked_once_at_a_time"
            ),
        ]
        indexes = [models.Index(fields=["session", "sequence", "created_at"], name="judgement_of_step")]

    @property
    def state_now(self) -> str:
        """Return its state; `lost` for a row that is `asking` for longer than a call can take."""
        is_lost = self.state == ASKING and self.created_at < now() - LONGEST_CALL
        return LOST if is_lost else self.state
