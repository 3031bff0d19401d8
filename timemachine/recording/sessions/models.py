"""Sessions, their ordered actions, and the passages frozen with them."""

from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.sessions.pure.corrections import CORRECTION, unknown_cost_calls
from timemachine.recording.sessions.pure.vocabulary import KINDS, LAYERS, MODEL_CALL, ROLES, SIGNIFICANCES

KEY_PATTERN = r"^[A-Za-z0-9._:@-]{1,200}$"
_HAS_TOKENS: Final = Q(input_tokens__gt=0) | Q(output_tokens__gt=0)
BEGAN_AT: Final = Coalesce("first_step_at", "started_at")
"""When a session began. Without any recorded time it is when the session was imported, which only orders lists."""


class SessionQuerySet(models.QuerySet["Session"]):
    """Sessions of a project."""

    def of(self, project: Project) -> "SessionQuerySet":
        return self.filter(project=project)


class Session(models.Model):
    """The ordered actions of one agent run. Its counters are updated in the transaction that appends."""

    RECORDING, ENDED = "recording", "ended"

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    key = models.CharField(max_length=200)
    name = FaithfulTextField()
    agent = FaithfulTextField(null=True)
    user = FaithfulTextField(null=True)
    collection = models.ForeignKey(Collection, null=True, on_delete=models.DO_NOTHING, related_name="+")
    status = models.CharField(max_length=10, default=RECORDING)
    parent = models.ForeignKey("self", null=True, on_delete=models.DB_SET_NULL, related_name="branches")
    parent_sequence = models.BigIntegerField(null=True)
    parent_key = models.CharField(max_length=200, null=True)
    # the id of a deleted parent, by which the session is recognised when it is imported again
    parent_erased = models.UUIDField(null=True)
    # of the branch of a continuation: `session` and `step`, `model`, and the id of the `replay`; never changes, and is sealed
    continues = FaithfulJSONField(null=True)
    metadata = FaithfulJSONField(default=dict)
    tags = ArrayField(FaithfulTextField(), default=list)
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=254)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    imported_as = models.CharField(max_length=30, null=True)
    # imported from a file without times: `started_at` is when it arrived
    is_undated = models.BooleanField(default=False, db_default=False)

    last_sequence = models.BigIntegerField(default=0)
    error_count = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    unknown_cost_calls = models.BigIntegerField(default=0)
    cached_calls = models.BigIntegerField(default=0, db_default=0)
    saved_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    unknown_saved_calls = models.BigIntegerField(default=0, db_default=0)
    last_action_at = models.DateTimeField(null=True)
    first_step_at = models.DateTimeField(null=True)
    last_step_ended_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["Session"]] = models.Manager.from_queryset(SessionQuerySet)()

    class Meta:
        db_table = "tm_session"
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="session_key_once"),
            models.CheckConstraint(condition=Q(key__regex=KEY_PATTERN), name="session_key_form"),
            models.CheckConstraint(
                condition=Q(status__in=("recording", "ended")), name="session_status_known"
            ),
        ]
        indexes = [
            models.Index("project", BEGAN_AT.desc(), F("id").desc(), name="session_newest_first"),
            models.Index(
                fields=["project", "parent_key"],
                condition=Q(parent_key__isnull=False),
                name="session_awaits_parent",
            ),
            models.Index(
                fields=["parent_erased"], condition=Q(parent_erased__isnull=False), name="session_lost_parent"
            ),
            models.Index(
                fields=["project"], condition=Q(continues__isnull=False), name="session_continues_one"
            ),
        ]

    @property
    def has_lost_parent(self) -> bool:
        """Whether it branched from a session that was deleted. For deletions by earlier versions only the step is known."""
        named = self.parent_id is not None or self.parent_key is not None
        return not named and (self.parent_erased is not None or self.parent_sequence is not None)

    @property
    def stated_start(self) -> datetime | None:
        """The start that its recorder or file stated; None if it was imported from a file without times."""
        return None if self.is_undated else self.started_at

    @property
    def began_at(self) -> datetime | None:
        """When it started: at the first start of a step; if no step has a time, at the stated start, if any."""
        return self.first_step_at or self.stated_start

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds from the first start of a step to the last end of one. If no step has a time, from the stated
        start to the end; None if one of them is not recorded or the session has not ended."""
        began, ended = self.first_step_at, self.last_step_ended_at
        if began is None or ended is None:
            began, ended = self.stated_start, self.ended_at
        return None if began is None or ended is None else (ended - began) / timedelta(milliseconds=1)


INTERNAL_MESSAGES = Q(kind="message", layer__in=("tool", "sys")) & (Q(role=None) | ~Q(role="system"))
"""Messages between tools and the system, neither to the agent nor from it. A system prompt is not one of them."""


class Action(models.Model):
    """One recorded step. Append-only: a trigger refuses every change, except that `recording.sessions.deletions` deletes it
    and `governance.deletion.erasure` empties its fields.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(
        Session, on_delete=models.DB_CASCADE, related_name="actions", db_index=False
    )  # found by `action_sequence_once`
    sequence = models.BigIntegerField()
    client_id = FaithfulTextField(null=True)
    kind = models.CharField(max_length=12)
    layer = models.CharField(max_length=10, null=True)
    role = models.CharField(max_length=10, null=True)
    agent = FaithfulTextField(null=True)
    name = FaithfulTextField(null=True)
    tool = FaithfulTextField(null=True)
    call_id = FaithfulTextField(null=True)
    parent_id_given = FaithfulTextField(null=True)
    parent_sequence = models.BigIntegerField(null=True)
    copied_from = FaithfulJSONField(null=True)
    significance = models.CharField(max_length=12, null=True)
    importance = models.FloatField(null=True)
    iteration = models.BigIntegerField(null=True)
    tags = ArrayField(FaithfulTextField(), default=list)
    metadata = FaithfulJSONField(null=True)
    started_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField(db_default=Now())
    duration_ms = models.FloatField(null=True)
    input = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    output = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    source = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    label = FaithfulTextField(blank=True)
    error_type = FaithfulTextField(null=True)
    error_message = FaithfulTextField(null=True)
    model = FaithfulTextField(null=True)
    parameters = FaithfulJSONField(null=True)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    total_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    prices = FaithfulJSONField(null=True)
    cached = models.BooleanField(null=True)
    saved_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    cached_from = FaithfulJSONField(null=True)
    grounding = FaithfulJSONField(null=True)
    retrieval = FaithfulJSONField(null=True)

    class Meta:
        db_table = "tm_action"
        constraints = [
            models.UniqueConstraint(fields=["session", "sequence"], name="action_sequence_once"),
            models.UniqueConstraint(
                fields=["session", "client_id"],
                condition=Q(client_id__isnull=False),
                name="action_client_id_once",
            ),
            models.CheckConstraint(condition=Q(sequence__gte=1), name="action_sequence_from_1"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="action_kind_known"),
            models.CheckConstraint(condition=Q(layer=None) | Q(layer__in=LAYERS), name="action_layer_known"),
            models.CheckConstraint(condition=Q(role=None) | Q(role__in=ROLES), name="action_role_known"),
            models.CheckConstraint(
                condition=Q(significance=None) | Q(significance__in=SIGNIFICANCES),
                name="action_significance_known",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "kind", "sequence"], name="action_of_kind"),
            models.Index(
                fields=["session", "sequence"],
                condition=Q(error_type__isnull=False) | Q(error_message__isnull=False),
                name="action_failed",
            ),
            models.Index(
                fields=["session", "parent_sequence"],
                condition=Q(parent_sequence__isnull=False),
                name="action_children_by_seq",
            ),
            models.Index(
                fields=["session", "parent_id_given"],
                condition=Q(parent_id_given__isnull=False),
                name="action_children_by_id",
            ),
            models.Index(fields=["session", "sequence"], condition=INTERNAL_MESSAGES, name="action_unsaid"),
            models.Index(
                fields=["session", "sequence"], condition=Q(copied_from__isnull=False), name="action_copied"
            ),
            # all of `recording.sessions.queries.UNKNOWN_COST`
            models.Index(
                fields=["session", "sequence"],
                condition=Q(cost_usd=None) & (Q(model__isnull=False) | Q(kind=MODEL_CALL) | _HAS_TOKENS)
                | Q(kind="event", prices__has_key=CORRECTION),
                name="action_unpriced",
            ),
        ]

    @property
    def is_copied(self) -> bool:
        """Whether it is context copied from an earlier session or file: it did not happen in this session."""
        return self.copied_from is not None

    @property
    def has_unknown_cost(self) -> bool:
        """Whether it is a model call with unknown cost."""
        number = unknown_cost_calls(
            self.kind,
            model=self.model,
            cost_usd=self.cost_usd,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            prices=self.prices,
        )
        return number > 0


class FrozenPassage(models.Model):
    """A passage as it was when it was found: its text as a payload, and its hash at that time."""

    rank = models.IntegerField()
    score = models.FloatField(null=True)
    scores = FaithfulJSONField(null=True)
    frame = FaithfulJSONField(null=True)
    version = models.IntegerField(null=True)
    title = FaithfulTextField(null=True)
    uri = FaithfulTextField(null=True)
    metadata = FaithfulJSONField(null=True)
    sha256 = models.CharField(max_length=64, null=True)
    matched = FaithfulJSONField(null=True)
    payload = models.ForeignKey(Payload, null=True, on_delete=models.DO_NOTHING, related_name="+")
    # no constraint: a hit never changes, so it still refers to a frame whose collection was erased
    stored_frame = models.ForeignKey(
        Frame, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )

    class Meta:
        abstract = True


class Hit(FrozenPassage):
    """A passage that a recorded find or ask returned. Append-only, like its action."""

    action = models.ForeignKey(
        Action, on_delete=models.DB_CASCADE, related_name="hits", db_index=False
    )  # found by `hit_rank_once`

    class Meta:
        db_table = "tm_hit"
        constraints = [models.UniqueConstraint(fields=["action", "rank"], name="hit_rank_once")]


class Hold(models.Model):
    """A legal hold: nothing of its sessions can be deleted or erased until it is released.

    `wanted` is the filter that selected them, None if they were named individually. The row stays after the release
    and after the deletion of its sessions: the history of holds is permanent.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    wanted = FaithfulJSONField(null=True)
    reason = FaithfulTextField()
    placed_by = models.CharField(max_length=254)
    placed_at = models.DateTimeField()
    released_by = models.CharField(max_length=254, null=True)
    released_at = models.DateTimeField(null=True)
    release_reason = FaithfulTextField(null=True)

    class Meta:
        db_table = "tm_hold"
        constraints = [
            models.CheckConstraint(
                condition=Q(released_at=None, released_by=None, release_reason=None)
                | Q(released_at__isnull=False, released_by__isnull=False, release_reason__isnull=False),
                name="hold_released_for_a_reason",
            )
        ]
        indexes = [models.Index(fields=["project", "-id"], name="hold_newest_first")]


class HeldSession(models.Model):
    """A session under a hold, until `released_at`."""

    id = models.BigAutoField(primary_key=True)
    hold = models.ForeignKey(Hold, on_delete=models.DB_CASCADE, related_name="held")
    # no constraint: the session stays named if it is deleted after the release
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    released_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_held_session"
        constraints = [models.UniqueConstraint(fields=["hold", "session"], name="held_session_once")]
        indexes = [
            models.Index(fields=["session"], name="held_session_of"),
            models.Index(fields=["session"], condition=Q(released_at=None), name="session_held_now"),
        ]


class ErasedSession(models.Model):
    """That a session was deleted, when, by whom and why, for imports of the same session.

    `key_mark` is a keyed hash of its key. `summaries` are the frames that remain (`collection`, `frame`), None in
    older rows.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.UUIDField()
    key_mark = models.CharField(max_length=64)
    actions = models.BigIntegerField()
    erased_at = models.DateTimeField()
    erased_by = models.CharField(max_length=254, null=True)
    reason = FaithfulTextField(null=True)
    summaries = FaithfulJSONField(null=True)
    log_index = models.BigIntegerField()

    class Meta:
        db_table = "tm_erased_session"
        indexes = [models.Index(fields=["project", "key_mark"], name="erased_session_by_key")]


class ErasedTurn(models.Model):
    """That a step was deleted, when, by whom and why. Its place in the session stays."""

    id = models.BigAutoField(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="erased_turns")
    sequence = models.BigIntegerField()
    erased_at = models.DateTimeField()
    erased_by = models.CharField(max_length=254)
    reason = FaithfulTextField()

    class Meta:
        db_table = "tm_erased_turn"
        constraints = [models.UniqueConstraint(fields=["session", "sequence"], name="erased_turn_once")]


class Delivery(models.Model):
    """The answer to an Idempotency-Key, so that a repeated request gets the same answer.

    For actions it is `sequences`, for a request that `begins` a session the session, for others `answer` with `status`. An ask without
    an answer is in progress, as `ask`. Erasing anything of the session also removes the answer and the hash of the request.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="+")
    key = FaithfulTextField()
    request_sha256 = models.CharField(max_length=64)
    sequences = ArrayField(models.BigIntegerField())
    begins = models.BooleanField(default=False, db_default=False)
    ask = models.UUIDField(null=True)
    status = models.SmallIntegerField(null=True)
    answer = FaithfulJSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_delivery"
        constraints = [
            models.UniqueConstraint(fields=["session", "key", "begins"], name="delivery_once_of_each"),
            models.UniqueConstraint(
                fields=["project", "key"], condition=Q(begins=True), name="session_begun_once"
            ),
        ]

    def __str__(self) -> str:
        return self.key
