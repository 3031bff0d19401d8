"""The answer cache and its switch, running asks, and the summaries of sessions."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.models import Session


class CachedAnswer(models.Model):
    """A complete answer of a model under the key of its ask, and which ask that was.

    The text is stored here and not as a payload, so that emptying the cache needs no erasure. The row is deleted with
    the session that asked and with the collection of the passages.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    key = models.CharField(max_length=64)
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="+")
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="+")
    sequence = models.BigIntegerField(null=True)
    asked_at = models.DateTimeField()
    text = FaithfulTextField()
    text_sha256 = models.CharField(max_length=64)
    model = FaithfulTextField()
    parameters = FaithfulJSONField()
    usage = FaithfulJSONField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    call_ms = models.FloatField()
    size = models.BigIntegerField()
    kept_at = models.DateTimeField(db_default=Now())
    used_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_cached_answer"
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="cached_answer_once"),
            models.CheckConstraint(
                condition=Q(session=None, sequence=None) | Q(session__isnull=False, sequence__isnull=False),
                name="cached_answer_names_its_ask",
            ),
        ]
        indexes = [models.Index(fields=["project", "-used_at"], name="cached_answer_by_use")]


class AnswerCacheSwitch(models.Model):
    """Whether a project's cache is on, who decided, and when. Without a row it is on."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.DB_CASCADE, related_name="+")
    on = models.BooleanField()
    changed_by = models.CharField(max_length=254)
    changed_at = models.DateTimeField()

    class Meta:
        db_table = "tm_answer_cache_switch"


class AskUnderWay(models.Model):
    """An ask whose model has not answered yet. Its process checks here whether it should end, and updates `seen_at`.

    `model` is the called model with its provider; None before the call and for local models.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="+")
    question = FaithfulTextField()
    model = FaithfulTextField(null=True)
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    cancel_wanted_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["AskUnderWay"]] = models.Manager()

    class Meta:
        db_table = "tm_ask_under_way"
        indexes = [models.Index(fields=["project", "started_at"], name="ask_under_way_by_project")]


class SessionSummary(models.Model):
    """A summary of a session in a collection: the frame's number and version, who wrote it, and the steps it cites.

    `unknown_steps` were cited but not part of its input. `through` is the last step at that time. The row is deleted
    with its session; the frame stays in the collection.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="+")
    number = models.BigIntegerField()
    version = models.IntegerField()
    model = FaithfulTextField()
    prompt_template = models.CharField(max_length=40, null=True)
    through = models.BigIntegerField()
    steps = ArrayField(models.BigIntegerField())
    unknown_steps = ArrayField(models.BigIntegerField())
    usage = FaithfulJSONField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    prices = FaithfulJSONField(null=True)
    duration_ms = models.FloatField(null=True)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_session_summary"
        indexes = [models.Index(fields=["session", "-id"], name="session_summary_latest")]
