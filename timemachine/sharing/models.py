"""What we keep of sharing: links, the grants that opened them, and who came when."""

from datetime import datetime
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.accounts.models import Project
from timemachine.base.ids import uuid7
from timemachine.comparison.models import Comparison
from timemachine.payloads.fields import FaithfulTextField
from timemachine.recording.models import Session
from timemachine.replay.models import Replay

SESSION, REPLAY, COMPARISON = "session", "replay", "comparison"
ACTIVE, REVOKED, EXPIRED, EXHAUSTED = "active", "revoked", "expired", "exhausted"
_STEPS_OF_A_SESSION = Q(session__isnull=False, through_sequence__isnull=False)


class ShareLink(models.Model):
    """A capability that shows one session, one replay or one comparison, or with `evidence_only` what it is and its evidence alone.

    Its scope never changes; only a hash of its secret is kept. A comparison is of several sessions, so its link has none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    public_id = models.CharField(max_length=16, unique=True)
    secret_sha256 = models.CharField(max_length=64)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="share_links")
    replay = models.ForeignKey(Replay, null=True, on_delete=models.DB_CASCADE, related_name="share_links")
    comparison = models.ForeignKey(
        Comparison, null=True, on_delete=models.DB_CASCADE, related_name="share_links"
    )
    target_type = models.CharField(max_length=12)
    through_sequence = models.BigIntegerField(null=True)
    evidence_only = models.BooleanField(default=False, db_default=False)
    label = FaithfulTextField(blank=True)
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=254, null=True)
    max_opens = models.IntegerField(null=True)
    opens = models.IntegerField(default=0)
    last_open_at = models.DateTimeField(null=True)
    passphrase_hash = models.CharField(max_length=200, null=True)

    class Meta:
        db_table = "tm_share_link"
        constraints = [
            models.CheckConstraint(
                condition=Q(target_type=SESSION, replay=None, comparison=None) & _STEPS_OF_A_SESSION
                | Q(target_type=REPLAY, replay__isnull=False, comparison=None) & _STEPS_OF_A_SESSION
                | Q(target_type=COMPARISON, comparison__isnull=False)
                & Q(session=None, replay=None, through_sequence=None),
                name="share_link_target",
            ),
            models.CheckConstraint(
                condition=Q(max_opens=None) | Q(opens__lte=models.F("max_opens")),
                name="share_link_opens_bounded",
            ),
            models.CheckConstraint(
                condition=Q(max_opens=None) | Q(max_opens__gte=1), name="share_link_opens_at_least_once"
            ),
            models.CheckConstraint(condition=Q(through_sequence__gte=1), name="share_link_shows_a_step"),
        ]
        indexes = [models.Index(fields=["project", "-created_at"], name="share_link_newest_first")]

    def __str__(self) -> str:
        return f"{self.target_type} link {self.public_id}"

    @property
    def name(self) -> str:
        """What it shows, by its name: that of the session, or how many models a comparison is of."""
        if self.session is not None:
            return self.session.name
        return f"Comparison of {len(self.comparison.arms)} models" if self.comparison else self.target_type

    @property
    def target_id(self) -> UUID | None:
        """The id of what it shows."""
        return self.comparison_id or self.replay_id or self.session_id

    def state(self, at: datetime) -> str:
        """`active`, or why nobody can open it at that moment: `revoked`, `expired`, `exhausted` (opened as often as it may be)."""
        if self.revoked_at is not None:
            return REVOKED
        if self.expires_at <= at:
            return EXPIRED
        return EXHAUSTED if self.max_opens is not None and self.opens >= self.max_opens else ACTIVE


class ShareGrant(models.Model):
    """What one opening got: a cookie's hash, for this link only, for at most twelve hours."""

    link = models.ForeignKey(ShareLink, on_delete=models.DB_CASCADE, related_name="grants")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "tm_share_grant"

    def __str__(self) -> str:
        return f"grant of {self.link_id}"


class ShareOpening(models.Model):
    """A line of a link's access log: opened, or refused and why."""

    link = models.ForeignKey(ShareLink, on_delete=models.DB_CASCADE, related_name="openings")
    at = models.DateTimeField(db_default=Now())
    result = models.CharField(max_length=20)
    address = models.CharField(max_length=50, null=True)
    browser = models.CharField(max_length=100, null=True)

    class Meta:
        db_table = "tm_share_opening"
        indexes = [models.Index(fields=["link", "-at"], name="share_opening_newest_first")]

    def __str__(self) -> str:
        return f"{self.result} at {self.at}"


class ShareMiss(models.Model):
    """A try to open a link that opened nothing, kept for a day to slow down whoever guesses."""

    origin = models.CharField(max_length=50)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_share_miss"
        indexes = [
            models.Index(fields=["origin", "-at"], name="share_miss_newest_first"),
            models.Index(fields=["at"], name="share_miss_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.origin} at {self.at}"
