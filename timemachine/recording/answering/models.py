"""What we keep of answers: the cache of each project, whether it is switched on, the asks that are under way, and where summaries were put."""

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
    """A whole answer of a model under the key of its ask, and which ask it was.

    The text is kept here and not as a payload, so that emptying the cache needs no erasure. The row goes with the session
    that asked and with the collection whose passages were asked: erasing either leaves nothing behind.
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

    def __str__(self) -> str:
        return f"{self.model} {self.key}"


class AnswerCacheSwitch(models.Model):
    """Whether a project's cache is on, who decided, and when. A project without a row has it on."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.DB_CASCADE, related_name="+")
    on = models.BooleanField()
    changed_by = models.CharField(max_length=254)
    changed_at = models.DateTimeField()

    class Meta:
        db_table = "tm_answer_cache_switch"

    def __str__(self) -> str:
        return f"answer cache {'on' if self.on else 'off'}"


class AskUnderWay(models.Model):
    """An ask whose model has not answered yet. The process that asks looks here whether it shall end, and says that it lives.

    `model` is the one that was called, with its provider; None as long as none was, or for one of our own.
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

    def __str__(self) -> str:
        return f"ask {self.id} since {self.started_at}"


class SessionSummary(models.Model):
    """A summary that was put into a collection: the frame's number and version, who wrote it, and the steps that it names.

    `unknown_steps` are those it names that it was never told. `through` is the last step that there was. It goes with its session; the frame
    stays in its collection, as every frame does.
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

    def __str__(self) -> str:
        return f"summary of {self.session_id} in {self.collection_id}"
