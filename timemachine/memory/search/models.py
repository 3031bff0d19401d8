"""The search index: words and vectors of steps, how far each session is indexed, and leases.

Everything here is derived from recorded steps and can be computed again. It is deleted with its steps.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from timemachine.core.accounts.models import Project
from timemachine.core.leases import ProjectWork
from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.knowledge.fields import VectorField, WeightsField
from timemachine.recording.sessions.models import Action, Session


class ActionIndex(models.Model):
    """The common fields of index rows. The session has no foreign key constraint, whose check would wait for a
    concurrent append.
    """

    action = models.OneToOneField(Action, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    sequence = models.BigIntegerField()

    class Meta:
        abstract = True


class SearchedAction(ActionIndex):
    """The stems of a step's words, and its identifiers after "=". `cut`: the step has more text.

    `tokens` is the number of tokens of the rendered step (`recording.sessions.pure.turn_text`) by the tokenizer
    of `knowledge.embedding.wordllama`; None if it was not counted.
    """

    kind = models.CharField(max_length=12)
    words = SearchVectorField()
    weights = WeightsField()
    cut = models.BooleanField()
    tokens = models.IntegerField(null=True)

    class Meta:
        db_table = "tm_searched_action"
        indexes = [
            GinIndex(fields=["words"], name="searched_words"),
            models.Index(fields=["project"], name="searched_of_project"),
            models.Index(fields=["session", "sequence"], include=["tokens"], name="searched_of_session"),
        ]


class ActionMeaning(ActionIndex):
    """The vector of a step under one embedding model. A step without text has none."""

    model = models.CharField(max_length=200)
    vector = VectorField()

    class Meta:
        db_table = "tm_action_meaning"
        indexes = [
            models.Index(fields=["project"], name="meaning_of_project"),
            models.Index(fields=["session", "sequence"], name="meaning_of_session"),
        ]


class ActionIndexRow(ActionIndex):
    """A step in few bytes, for scans: the fields of filters, and the first dimensions of its vector, scaled to
    length 1.

    `at` is its start, else its recording, None for imported steps without times. `worth` is its recorded importance, else that of its recorded
    significance; later changes are not included. `vector` is None if the step has none.
    """

    at = models.DateTimeField(null=True)
    vector = VectorField(null=True)
    kind = models.CharField(max_length=12)
    significance = models.CharField(max_length=12, null=True)
    worth = models.FloatField(null=True)
    agent = FaithfulTextField(null=True)
    tags = ArrayField(FaithfulTextField(), null=True)

    class Meta:
        db_table = "tm_action_sketch"
        indexes = [
            models.Index(fields=["project", "at"], name="sketch_of_time"),
            models.Index(fields=["session"], name="sketch_of_session"),
        ]


class IndexedSession(models.Model):
    """How far a session is indexed: all its steps up to `indexed_through`.

    `erasures` counts rewrites of its steps: a worker that read before one must not store its result.
    """

    session = models.OneToOneField(Session, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    indexed_through = models.BigIntegerField(default=0)
    erasures = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "tm_indexed_session"


class Indexing(ProjectWork):
    """The indexing of a project."""

    class Meta:
        db_table = "tm_indexing"


class CountedWord(models.Model):
    """A stem or identifier in many steps of a project, and about how many at the last count; an empty one for the
    number of steps.

    A trigger deletes all rows of a project when some of it is erased. There is no foreign key, so that this
    waits for no count.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    word = models.TextField()
    steps = models.BigIntegerField()

    class Meta:
        db_table = "tm_counted_word"
        constraints = [models.UniqueConstraint(fields=["project", "word"], name="counted_word_once")]
