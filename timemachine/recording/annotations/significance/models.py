"""What we keep of how much steps matter: what was said of one since it was recorded, and by whom. It lies beside the record, which never changes."""

from typing import Final, Literal, get_args

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES

Rule = Literal["first_error", "error_gone", "decision", "hypothesis", "root_cause", "solved"]
RULES: Final[tuple[str, ...]] = get_args(Rule)
"""The rules by which a significance is proposed."""

_KNOWN: Final = Q(significance=None) | Q(significance__in=SIGNIFICANCES)
_IMPORTANCE: Final = Q(importance=None) | Q(importance__gte=0, importance__lte=1)


class Weight(models.Model):
    """What is in force for one step besides what was recorded. What is null here is as recorded."""

    action = models.OneToOneField(
        Action, on_delete=models.DB_CASCADE, primary_key=True, related_name="weight"
    )
    significance = models.CharField(max_length=12, null=True)
    importance = models.FloatField(null=True)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_weight"
        constraints = [
            models.CheckConstraint(
                condition=_KNOWN & _IMPORTANCE & ~Q(significance=None, importance=None),
                name="weight_says_something",
            )
        ]

    def __str__(self) -> str:
        return f"weight of action {self.action_id}"


class WeightChange(models.Model):
    """One change of what is in force for a step: what it was set to, null for what was recorded. These rows stay."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    action = models.ForeignKey(Action, on_delete=models.DB_CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    sequence = models.BigIntegerField()
    significance = models.CharField(max_length=12, null=True)
    importance = models.FloatField(null=True)
    rule = models.CharField(max_length=12, null=True)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_weight_change"
        constraints = [
            models.CheckConstraint(
                condition=_KNOWN & _IMPORTANCE & (Q(rule=None) | Q(rule__in=RULES)),
                name="weight_change_known",
            )
        ]
        indexes = [models.Index(fields=["session", "sequence", "id"], name="weight_change_in_order")]

    def __str__(self) -> str:
        return f"change of the weight of step {self.sequence} of {self.session_id}"


class Declined(models.Model):
    """A proposal that somebody said no to; it is not made again."""

    action = models.ForeignKey(Action, on_delete=models.DB_CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    rule = models.CharField(max_length=12)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_declined"
        constraints = [
            models.UniqueConstraint(fields=["session", "action", "rule"], name="declined_once"),
            models.CheckConstraint(condition=Q(rule__in=RULES), name="declined_rule_known"),
        ]

    def __str__(self) -> str:
        return f"no to {self.rule} for action {self.action_id}"


class Compression(models.Model):
    """A session whose exploratory steps up to `through` count 0.30, until it is undone: then the row goes, and the change stays."""

    session = models.OneToOneField(
        Session, on_delete=models.DB_CASCADE, primary_key=True, related_name="compression"
    )
    through = models.BigIntegerField()
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_compression"

    def __str__(self) -> str:
        return f"compression of {self.session_id}"


class CompressionChange(models.Model):
    """That a session was compressed, or that it was undone, and by whom: a person, a key, or the rule of the project. These rows stay."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    compressed = models.BooleanField()
    by_rule = models.BooleanField(default=False)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_compression_change"
        indexes = [models.Index(fields=["session", "id"], name="compression_change_in_order")]

    def __str__(self) -> str:
        return f"{'compressed' if self.compressed else 'undone'}: {self.session_id}"


class CompressionRule(models.Model):
    """After how many days behind their end the sessions of a project are compressed; a project without one compresses none by itself."""

    project = models.OneToOneField(Project, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    days = models.PositiveIntegerField()
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())
    looked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_compression_rule"
        constraints = [models.CheckConstraint(condition=Q(days__gte=1), name="compression_rule_of_days")]

    def __str__(self) -> str:
        return f"compression after {self.days} days in {self.project_id}"
