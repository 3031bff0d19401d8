"""Share links, the grants of their visitors, their access log, and the project's policy."""

from datetime import datetime
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

SESSION, REPLAY, COMPARISON = "session", "replay", "comparison"
ACTIVE, REVOKED, EXPIRED, EXHAUSTED = "active", "revoked", "expired", "exhausted"
FORBIDDEN = "forbidden"
_STEPS_OF_A_SESSION = Q(session__isnull=False, through_sequence__isnull=False)


class ShareLink(models.Model):
    """A link that shows one session, replay or comparison; with `evidence_only`, only its evidence.

    Its scope never changes; only a hash of its secret is stored. That of a comparison has no session.
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
    # the redaction profile: name, version and rules as they were when the link was created
    redaction = models.JSONField(null=True)
    # what that profile matched then: `counts` by rule in names, in the first `read` of `steps` steps and in the first `answers_read` of the
    # new `answers` of replays; null if nothing was searched
    withheld = models.JSONField(null=True)
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

    @property
    def name(self) -> str:
        """Return the name of what it shows: the session's, or how many models a comparison has."""
        if self.session is not None:
            return self.session.name
        return f"Comparison of {len(self.comparison.arms)} models" if self.comparison else self.target_type

    @property
    def target_id(self) -> UUID | None:
        return self.comparison_id or self.replay_id or self.session_id

    def state(self, at: datetime, *, forbidden: bool = False) -> str:
        """Return `active`, or why nobody can open it at that moment: `revoked`, `expired`, `exhausted` (used
        up), or `forbidden` by its project.
        """
        if self.revoked_at is not None:
            return REVOKED
        if self.expires_at <= at:
            return EXPIRED
        if self.max_opens is not None and self.opens >= self.max_opens:
            return EXHAUSTED
        return FORBIDDEN if forbidden else ACTIVE


class ShareGrant(models.Model):
    """What a visitor got for one opening: the hash of a cookie, for this link only, for at most twelve hours."""

    link = models.ForeignKey(ShareLink, on_delete=models.DB_CASCADE, related_name="grants")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    views = models.IntegerField(default=0, db_default=0)
    views_since = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_share_grant"


class ShareOpening(models.Model):
    """A line of a link's access log; without a link, a change of its project's policy.

    Lines are appended and never changed (a trigger refuses it); each has the hash of the one before.
    """

    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    link = models.ForeignKey(ShareLink, null=True, on_delete=models.DB_CASCADE, related_name="openings")
    sequence = models.BigIntegerField()
    at = models.DateTimeField()
    result = models.CharField(max_length=20)
    by = models.CharField(max_length=254, null=True)
    address = models.CharField(max_length=50, null=True)
    browser = models.CharField(max_length=100, null=True)
    facts = FaithfulJSONField(null=True)
    previous_sha256 = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)

    class Meta:
        db_table = "tm_share_opening"
        constraints = [
            models.UniqueConstraint(
                fields=["link", "sequence"],
                condition=Q(link__isnull=False),
                name="share_opening_of_a_link_once",
            ),
            models.UniqueConstraint(
                fields=["project", "sequence"], condition=Q(link=None), name="share_opening_of_a_policy_once"
            ),
            models.CheckConstraint(condition=Q(sequence__gte=1), name="share_opening_counts_from_1"),
        ]


class SharePolicy(models.Model):
    """What a project's administrators allow for its links. A project without a row allows everything."""

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.DB_CASCADE, related_name="share_policy"
    )
    forbidden = models.BooleanField(default=False)
    passphrase_required = models.BooleanField(default=False)
    profile_required = models.BooleanField(default=False, db_default=False)
    longest_days = models.IntegerField(null=True)

    class Meta:
        db_table = "tm_share_policy"
        constraints = [
            models.CheckConstraint(
                condition=Q(longest_days=None) | Q(longest_days__gte=1, longest_days__lte=366),
                name="share_policy_days_in_bounds",
            )
        ]


class ShareMiss(models.Model):
    """A failed try to open a link, stored for a day to slow down guessing: a keyed hash of its origin, and the link named."""

    origin = models.CharField(max_length=50, null=True)
    public_id = models.CharField(max_length=16, null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_share_miss"
        indexes = [
            models.Index(fields=["origin", "-at"], name="share_miss_newest_first"),
            models.Index(fields=["public_id", "-at"], name="share_miss_of_a_link"),
            models.Index(fields=["at"], name="share_miss_oldest"),
        ]
