"""Keys, sealed records with their salts, signed checkpoints, and each project's log."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased, Measured
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.evidence.pure.checkpoint import OPEN
from timemachine.evidence.pure.key_store_names import DATABASE
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

SESSION, REPLAY, COMPARISON = "session", "replay", "comparison"


class SigningKey(models.Model):
    """An Ed25519 key of a project. One is in use; replaced ones still verify what they signed.

    `private_key` is encrypted, and None if the key is in another store, where it has a `name`.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    fingerprint = models.CharField(max_length=80, unique=True)
    public_key = models.BinaryField()
    store = models.CharField(max_length=200, db_default=DATABASE)
    private_key = models.BinaryField(null=True)
    name = models.CharField(max_length=2000, null=True)
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=254, null=True)
    replaced_at = models.DateTimeField(null=True)
    replaced_by = models.CharField(max_length=254, null=True)

    class Meta:
        db_table = "tm_signing_key"
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(replaced_at=None), name="signing_key_in_use_once"
            ),
            models.CheckConstraint(
                condition=Q(store=DATABASE, private_key__isnull=False, name=None)
                | Q(~Q(store=DATABASE), private_key=None, name__isnull=False),
                name="signing_key_in_one_store",
            ),
        ]

    def __str__(self) -> str:
        return self.fingerprint


class Seal(models.Model):
    """The tree over the records of a session, replay or comparison. Each further run has a new generation."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    of = models.CharField(max_length=12)
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="seals")
    replay = models.ForeignKey(Replay, null=True, on_delete=models.DB_CASCADE, related_name="seals")
    comparison = models.ForeignKey(Comparison, null=True, on_delete=models.DB_CASCADE, related_name="seals")
    generation = models.IntegerField(default=1)
    run_ended_at = models.DateTimeField(null=True)
    size = models.BigIntegerField(default=0)
    peaks = ArrayField(models.BinaryField(), default=list)
    last_leaf = models.BinaryField(default=bytes(32))
    signed_size = models.BigIntegerField(default=0)
    signed_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=6, default=OPEN)
    # why it cannot be sealed further: a record is missing
    problem = models.TextField(null=True)

    class Meta:
        db_table = "tm_seal"
        constraints = [
            models.CheckConstraint(
                condition=Q(of=SESSION, session__isnull=False, replay=None, comparison=None)
                | Q(of=REPLAY, session=None, replay__isnull=False, comparison=None)
                | Q(of=COMPARISON, session=None, replay=None, comparison__isnull=False),
                name="seal_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=["session"], condition=Q(session__isnull=False), name="seal_of_session_once"
            ),
            models.UniqueConstraint(
                fields=["replay", "generation"],
                condition=Q(replay__isnull=False),
                name="seal_of_replay_generation_once",
            ),
            models.UniqueConstraint(
                fields=["comparison", "generation"],
                condition=Q(comparison__isnull=False),
                name="seal_of_comparison_generation_once",
            ),
            models.CheckConstraint(
                condition=Q(signed_size__gte=0, size__gte=F("signed_size")),
                name="seal_signed_as_far_as_it_goes",
            ),
        ]

    @property
    def subject_id(self) -> str:
        """Return the id of the sealed session, replay or comparison."""
        return str(self.session_id or self.replay_id or self.comparison_id)


class SealedRecord(models.Model):
    """The envelope of one record, byte for byte, its leaf hash, and the salts of its fields. Append-only.

    A salt is erased together with its field; nothing else in the row ever changes. `row` names the row that a
    comparison's record is about.
    """

    id = models.BigAutoField(primary_key=True)
    seal = models.ForeignKey(Seal, on_delete=models.DB_CASCADE, related_name="records")
    index = models.BigIntegerField()
    envelope = models.BinaryField()
    leaf = models.BinaryField()
    salts = models.JSONField()
    row = models.CharField(max_length=60, null=True)

    class Meta:
        db_table = "tm_sealed_record"
        constraints = [
            models.UniqueConstraint(fields=["seal", "index"], name="sealed_record_once"),
            models.UniqueConstraint(
                fields=["seal", "row"], condition=Q(row__isnull=False), name="sealed_record_of_a_row_once"
            ),
        ]


class SealedResults(models.Model):
    """The sealed results of a comparison, as canonical JSON. `form` is the version of their computation."""

    id = models.BigAutoField(primary_key=True)
    seal = models.ForeignKey(Seal, on_delete=models.DB_CASCADE, related_name="results")
    form = models.IntegerField()
    content = models.TextField()

    class Meta:
        db_table = "tm_sealed_results"
        constraints = [models.UniqueConstraint(fields=["seal", "form"], name="sealed_results_once")]


class SealCheckpoint(models.Model):
    """A signed statement of a tree's size and root; `signed` is the DSSE envelope. Append-only.

    `cut_for` is the public id of the share link whose download needed a state of fewer records; None if the
    state covers everything sealed at that time.
    """

    id = models.BigAutoField(primary_key=True)
    seal = models.ForeignKey(Seal, on_delete=models.DB_CASCADE, related_name="checkpoints")
    size = models.BigIntegerField()
    root = models.BinaryField()
    state = models.CharField(max_length=6)
    signed = models.TextField()
    key = models.ForeignKey(SigningKey, on_delete=models.DO_NOTHING, related_name="+")
    at = models.DateTimeField()
    log_index = models.BigIntegerField()
    cut_for = models.CharField(max_length=80, null=True)

    class Meta:
        db_table = "tm_seal_checkpoint"
        indexes = [models.Index(fields=["seal", "size"], name="seal_checkpoint_in_order")]

    @property
    def root_hex(self) -> str:
        return bytes(self.root).hex()


class SealCheck(Leased, Enqueued, Measured):
    """One comparison of the database with a seal, and its result. Its parts are records."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    seal = models.ForeignKey(Seal, on_delete=models.DB_CASCADE, related_name="checks")
    requested_by = models.CharField(max_length=254, null=True)
    requested_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    records = models.BigIntegerField(default=0)
    problems = FaithfulJSONField(default=list)
    # records of repeated sessions, compared together with those of the replay or comparison
    recorded = models.BigIntegerField(default=0, db_default=0)
    # fields that were lawfully erased, each named by a tombstone
    erased = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "tm_seal_check"
        indexes = [models.Index(fields=["seal", "-requested_at"], name="seal_check_newest_first")]


class ErasedField(models.Model):
    """A field of a sealed or recorded thing that was erased, partly or completely.

    `commitment` (hex) is what it was sealed under; None if it was not sealed yet. The tombstone is entry
    `log_index` of the project's log. This row is only an index to it and is deleted with the session.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="erased_fields")
    replay = models.ForeignKey(Replay, null=True, on_delete=models.DB_CASCADE, related_name="erased_fields")
    sequence = models.BigIntegerField()
    index = models.BigIntegerField()
    field = models.CharField(max_length=40)
    commitment = models.CharField(max_length=64, null=True)
    log_index = models.BigIntegerField()
    erased_at = models.DateTimeField()
    erased_by = models.CharField(max_length=254)
    reason = FaithfulTextField()

    class Meta:
        db_table = "tm_erased_field"
        indexes = [
            models.Index(fields=["session", "sequence"], name="erased_field_of_step"),
            models.Index(fields=["replay"], condition=Q(replay__isnull=False), name="erased_field_of_replay"),
        ]


class EarlierSeal(models.Model):
    """A comparison's seal that was replaced after an erasure: its states, and when, by whom and why.

    A state has `size`, `root` (hex), `at`, `log_index` and `cut_for`; they are in signing order. The row's
    own `log_index` is the tombstone. `fields` is how many fields of a session and its replays were erased;
    None if a session was deleted. The log has everything but that number. This row is only an index to it and
    is deleted with the comparison.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    comparison = models.ForeignKey(Comparison, on_delete=models.DB_CASCADE, related_name="earlier_seals")
    generation = models.IntegerField()
    states = models.JSONField()
    log_index = models.BigIntegerField()
    replaced_at = models.DateTimeField()
    replaced_by = models.CharField(max_length=254, null=True)
    reason = FaithfulTextField(null=True)
    fields = models.BigIntegerField(null=True)

    class Meta:
        db_table = "tm_earlier_seal"
        constraints = [models.UniqueConstraint(fields=["comparison", "generation"], name="earlier_seal_once")]


class EvidenceLog(models.Model):
    """A project's log: the tree over its seals, tombstones and keys, so that a dropped session is noticed."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.DB_CASCADE, related_name="+")
    size = models.BigIntegerField(default=0)
    peaks = ArrayField(models.BinaryField(), default=list)
    last_leaf = models.BinaryField(default=bytes(32))

    class Meta:
        db_table = "tm_evidence_log"


class LogEntry(models.Model):
    """A line of a project's log, byte for byte. It stays after the thing it names is deleted. Append-only."""

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    index = models.BigIntegerField()
    entry = models.BinaryField()
    leaf = models.BinaryField()

    class Meta:
        db_table = "tm_log_entry"
        constraints = [models.UniqueConstraint(fields=["project", "index"], name="log_entry_once")]


class LogCheckpoint(models.Model):
    """A signed statement of the size and root of a project's log. Append-only."""

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    size = models.BigIntegerField()
    root = models.BinaryField()
    signed = models.TextField()
    key = models.ForeignKey(SigningKey, on_delete=models.DO_NOTHING, related_name="+")
    at = models.DateTimeField()

    class Meta:
        db_table = "tm_log_checkpoint"
        constraints = [models.UniqueConstraint(fields=["project", "size", "key"], name="log_checkpoint_once")]


WITNESS, TIMESTAMP = "witness", "timestamp"


class Anchor(Leased, Enqueued):
    """A witness or timestamp authority that the log is reported to. `size` is how much it took last.

    `error` is the last failure since; `next_at` is the earliest time of the next attempt.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    kind = models.CharField(max_length=10)
    url = models.CharField(max_length=500)
    set_by = models.CharField(max_length=254)
    set_at = models.DateTimeField(db_default=Now())
    size = models.BigIntegerField(default=0)
    taken_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)
    failed_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_anchor"
        constraints = [
            models.UniqueConstraint(fields=["project", "kind"], name="anchor_of_a_kind_once"),
            models.CheckConstraint(condition=Q(kind__in=(WITNESS, TIMESTAMP)), name="anchor_kind_known"),
        ]


class AnchorReceipt(models.Model):
    """The answer of an anchor to a log state, byte for byte, and what it was sent. Append-only."""

    id = models.BigAutoField(primary_key=True)
    checkpoint = models.ForeignKey(LogCheckpoint, on_delete=models.DB_CASCADE, related_name="receipts")
    kind = models.CharField(max_length=10)
    url = models.CharField(max_length=500)
    sent = models.BinaryField()
    answer = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        db_table = "tm_anchored"


class AccessHead(models.Model):
    """How much of an access log the project's log commits to: the number of lines and the hash of the last.

    `chain` names the access log as its lines do. A link's head is deleted with its session or comparison.
    """

    project = models.ForeignKey(Project, on_delete=models.DB_CASCADE, related_name="+")
    chain = models.CharField(max_length=60, unique=True)
    session = models.ForeignKey(Session, null=True, on_delete=models.DB_CASCADE, related_name="+")
    comparison = models.ForeignKey(Comparison, null=True, on_delete=models.DB_CASCADE, related_name="+")
    lines = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        db_table = "tm_access_head"
