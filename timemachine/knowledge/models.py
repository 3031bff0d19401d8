"""Collections: frames, version by version, and their vectors."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now
from pgvector.django import HalfVectorField, SparseVectorField

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Enqueued, Leased
from timemachine.core.payloads.fields import FaithfulJSONField, FaithfulTextField
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.fields import LEXEME_SPACE


class Collection(models.Model):
    """A named set of frames.

    Triggers maintain `frame_count`, the number of current frames, and `changed_at`, when the last one was added
    or ended.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    name = models.CharField(max_length=200)
    embedding_model = models.CharField(max_length=200)
    next_number = models.BigIntegerField(default=0)
    frame_count = models.BigIntegerField(default=0)
    changed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=254)

    class Meta:
        db_table = "tm_collection"
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="collection_name_once")]

    def __str__(self) -> str:
        return self.name


def _terms() -> Func:
    return Func(F("search_title"), F("search_text"), function="tm_frame_terms")


class Source(models.Model):
    """A file that was uploaded: its bytes, and the text in which its passages have their offsets. Append-only.

    `left_out` names the parts of an HTML page around its text that are not in it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.DO_NOTHING, related_name="sources")
    name = FaithfulTextField()
    title = FaithfulTextField(blank=True)
    uri = FaithfulTextField(blank=True)
    media_type = models.CharField(max_length=50)
    original = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    text = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    sha256 = models.CharField(max_length=64)
    left_out = ArrayField(models.TextField(), default=list)
    put_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_source"
        indexes = [models.Index(fields=["collection", "sha256"], name="source_by_content")]

    def __str__(self) -> str:
        return self.name


class Frame(models.Model):
    """One version of one passage. It never changes, except that `valid_until` is set when it is updated or
    deleted.

    `ended_by` is `update`, `delete`, or `replace` if its file was uploaded again and replaced. `deleted_by` is
    who deleted it; null if that was not yet recorded.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    collection = models.ForeignKey(
        Collection, on_delete=models.DO_NOTHING, related_name="frames", db_index=False
    )
    number = models.BigIntegerField()
    version = models.IntegerField()
    title = FaithfulTextField(blank=True)
    uri = FaithfulTextField(blank=True)
    metadata = FaithfulJSONField(default=dict)
    payload = models.ForeignKey(Payload, on_delete=models.DO_NOTHING, related_name="+")
    sha256 = models.CharField(max_length=64)
    search_title = models.TextField()
    search_text = models.TextField()
    identifiers = ArrayField(models.TextField(), default=list)
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=10, null=True)
    deleted_by = models.CharField(max_length=254, null=True)
    put_by = models.CharField(max_length=254)
    source = models.ForeignKey(Source, null=True, on_delete=models.DO_NOTHING, related_name="frames")
    source_start = models.IntegerField(null=True)
    source_end = models.IntegerField(null=True)
    terms: models.GeneratedField = models.GeneratedField(
        expression=_terms(), output_field=SearchVectorField(), db_persist=True
    )

    class Meta:
        db_table = "tm_frame"
        constraints = [
            models.UniqueConstraint(fields=["collection", "number", "version"], name="frame_version_once"),
            models.UniqueConstraint(
                fields=["collection", "number"], condition=Q(valid_until=None), name="frame_current_once"
            ),
            models.CheckConstraint(condition=Q(number__gte=0, version__gte=1), name="frame_counts_from"),
            models.CheckConstraint(
                condition=Q(valid_until=None, ended_by=None)
                | Q(valid_until__isnull=False, ended_by__in=("update", "delete", "replace")),
                name="frame_end_has_cause",
            ),
            models.CheckConstraint(
                condition=Q(deleted_by=None) | Q(ended_by="delete"), name="frame_deleted_by_whom"
            ),
            models.CheckConstraint(
                condition=Q(source=None, source_start=None, source_end=None)
                | Q(
                    source__isnull=False,
                    source_start__isnull=False,
                    source_end__isnull=False,
                    source_start__gte=0,
                    source_end__gt=F("source_start"),
                ),
                name="frame_source_whole",
            ),
        ]
        indexes = [
            models.Index(fields=["collection", "valid_from"], name="frame_of_collection"),
            models.Index(
                fields=["collection", "valid_until"],
                condition=Q(valid_until__isnull=False),
                name="frame_ended",
            ),
            models.Index(fields=["collection", "sha256"], name="frame_by_content"),
            GinIndex(fields=["terms"], name="frame_terms"),
            GinIndex(fields=["identifiers"], name="frame_identifiers"),
        ]


class SourcePassage(models.Model):
    """A frame as a passage of a file: characters `start` (inclusive) to `end` (exclusive) of its text.
    Append-only.

    A frame comes from one file, its `source`, and is a passage of each later file that has it unchanged.
    """

    source = models.ForeignKey(Source, on_delete=models.DB_CASCADE, related_name="passages")
    frame = models.ForeignKey(Frame, on_delete=models.DB_CASCADE, related_name="places")
    start = models.IntegerField()
    end = models.IntegerField()

    class Meta:
        db_table = "tm_source_passage"
        constraints = [
            models.UniqueConstraint(fields=["source", "start", "frame"], name="source_passage_once"),
            models.CheckConstraint(
                condition=Q(start__gte=0, end__gt=F("start")), name="source_passage_has_length"
            ),
        ]


class SourcePut(models.Model):
    """One upload of a file: who, when, and with what result. Append-only.

    `new` passages were added, `kept` ones existed already; `ended` counts those of an earlier version that it
    ended, whose `valid_until` is the same time.
    """

    source = models.ForeignKey(Source, on_delete=models.DB_CASCADE, related_name="puts")
    at = models.DateTimeField()
    put_by = models.CharField(max_length=254)
    replaced = models.BooleanField()
    new = models.BigIntegerField()
    kept = models.BigIntegerField()
    ended = models.BigIntegerField()

    class Meta:
        db_table = "tm_source_put"
        constraints = [
            models.CheckConstraint(
                condition=Q(new__gte=0, kept__gte=0, ended__gte=0), name="source_put_counts_from_0"
            ),
            models.CheckConstraint(
                condition=Q(replaced=True) | Q(ended=0), name="source_put_ends_where_it_replaces"
            ),
        ]
        indexes = [models.Index(fields=["at"], name="source_put_at")]


class FrameWeights(models.Model):
    """The BM25 weights of a frame's terms and identifiers, in their own table so that a scan reads little.

    Triggers write and end these rows with their frames.
    """

    frame = models.OneToOneField(Frame, on_delete=models.DB_CASCADE, primary_key=True, related_name="weights")
    collection = models.ForeignKey(Collection, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    number = models.BigIntegerField()
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True)
    weights = SparseVectorField(dimensions=LEXEME_SPACE)

    class Meta:
        db_table = "tm_frame_weights"
        indexes = [models.Index(fields=["collection", "valid_from"], name="weights_of_collection")]


class TermCount(models.Model):
    """How many current frames of a collection contain a term. Identifiers begin with "=". Maintained by triggers."""

    pk = models.CompositePrimaryKey("collection", "term")
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="+", db_index=False)
    term = models.TextField()
    frames = models.BigIntegerField()

    class Meta:
        db_table = "tm_term_count"


class FrameEmbedding(models.Model):
    """The vector of a frame under one embedding model. Vectors of different models are never compared."""

    frame = models.ForeignKey(Frame, on_delete=models.DB_CASCADE, related_name="embeddings", db_index=False)
    collection = models.ForeignKey(Collection, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    model = models.CharField(max_length=200)
    vector = HalfVectorField()

    class Meta:
        db_table = "tm_frame_embedding"
        constraints = [models.UniqueConstraint(fields=["frame", "model"], name="embedding_once")]
        indexes = [models.Index(fields=["collection", "model"], name="embedding_of_collection")]


class BlankFrame(models.Model):
    """A frame whose vector is all zeros under an embedding model: it has no vector, and none is missing."""

    frame = models.ForeignKey(Frame, on_delete=models.DB_CASCADE, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="+")
    model = models.CharField(max_length=200)

    class Meta:
        db_table = "tm_blank_frame"
        constraints = [models.UniqueConstraint(fields=["frame", "model"], name="blank_once")]


class RefusedFrame(models.Model):
    """A frame that an embedding server refused, and why. It has no vector and is tried again only on request."""

    frame = models.ForeignKey(Frame, on_delete=models.DB_CASCADE, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="+")
    model = models.CharField(max_length=200)
    reason = FaithfulTextField()
    refused_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_refused_frame"
        constraints = [models.UniqueConstraint(fields=["frame", "model"], name="refused_once")]


class EmbeddingWork(Leased, Enqueued):
    """A collection lacks vectors of a model. The row is deleted when none is missing any more.

    `replaces`: the model then becomes the collection's own. A worker claims the row with a lease; after a
    failure the next attempt is at `not_before`.
    """

    collection = models.ForeignKey(Collection, on_delete=models.DB_CASCADE, related_name="embedding_work")
    model = models.CharField(max_length=200)
    replaces = models.BooleanField(default=False)
    requested_by = models.CharField(max_length=254, blank=True)
    requested_at = models.DateTimeField(db_default=Now())
    began_at = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0)
    error_code = models.CharField(max_length=100, null=True)
    error_message = models.TextField(null=True)
    not_before = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_embedding_work"
        constraints = [
            models.UniqueConstraint(fields=["collection", "model"], name="embedding_work_once"),
            models.UniqueConstraint(
                fields=["collection"], condition=Q(replaces=True), name="embedding_replaced_by_one"
            ),
        ]
