"""Changes of the significance of steps, and compression, stored separately from the record, which never changes."""

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
"""The rules that suggest a significance."""

_KNOWN: Final = Q(significance=None) | Q(significance__in=SIGNIFICANCES)
_IMPORTANCE: Final = Q(importance=None) | Q(importance__gte=0, importance__lte=1)


class SignificanceOverride(models.Model):
    """What differs from the record for one step. A null field is as recorded."""

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


class SignificanceChange(models.Model):
    """One change of a step's significance or importance; null restored what was recorded. These rows are permanent."""

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


class Declined(models.Model):
    """A declined suggestion, which is not made again."""

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


class Compression(models.Model):
    """A session whose exploratory steps up to `through` count at most 0.30. Undoing it deletes the row; the change stays
    logged."""

    session = models.OneToOneField(
        Session, on_delete=models.DB_CASCADE, primary_key=True, related_name="compression"
    )
    through = models.BigIntegerField()
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_compression"


class CompressionChange(models.Model):
    """That a session was compressed or this was undone, and by whom: a person, a key, or the project's rule. These rows
    are permanent."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    compressed = models.BooleanField()
    by_rule = models.BooleanField(default=False)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_compression_change"
        indexes = [models.Index(fields=["session", "id"], name="compression_change_in_order")]


class CompressionRule(models.Model):
    """The number of days after their end when a project's sessions are compressed. Without a row this never happens
    automatically."""

    project = models.OneToOneField(Project, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    days = models.PositiveIntegerField()
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())
    looked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_compression_rule"
        constraints = [models.CheckConstraint(condition=Q(days__gte=1), name="compression_rule_of_days")]
