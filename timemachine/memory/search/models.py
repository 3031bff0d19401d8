"""What is kept so that steps are found: their words, their meaning, how far each session is indexed, and who is at it.

All of it is made from the record and can be made again. It goes with its actions, so a session that is erased takes it along.
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


class OfAction(models.Model):
    """What every row about an action has. The session has no constraint: checking it would wait for whoever appends to it."""

    action = models.OneToOneField(Action, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    sequence = models.BigIntegerField()

    class Meta:
        abstract = True


class SearchedAction(OfAction):
    """The words of an action, stemmed, and its identifiers behind a "=". `cut`: some of its text is not among them.

    `tokens` is how many the step has as it is told (`recording.sessions.pure.turn_text`), by the tokenizer of `knowledge.embedding.wordllama`; None where it
    was not counted.
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
            models.Index(fields=["session", "sequence"], name="searched_of_session"),
        ]

    def __str__(self) -> str:
        return f"words of {self.action_id}"


class ActionMeaning(OfAction):
    """The vector of an action under one embedding model. An action in which the model sees nothing has none."""

    model = models.CharField(max_length=200)
    vector = VectorField()

    class Meta:
        db_table = "tm_action_meaning"
        indexes = [
            models.Index(fields=["project"], name="meaning_of_project"),
            models.Index(fields=["session", "sequence"], name="meaning_of_session"),
        ]

    def __str__(self) -> str:
        return f"{self.model} of {self.action_id}"


class ActionSketch(OfAction):
    """A step in few bytes, for a scan of very many: what they are narrowed by, and the first dimensions of its vector, scaled to length 1.

    `at` is when it was: its start, else its recording. `worth` is the importance that it was recorded with, else what its significance is
    worth; what was said of it since is not in here. `vector` is None where the step has none.
    """

    at = models.DateTimeField()
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

    def __str__(self) -> str:
        return f"sketch of {self.action_id}"


class IndexedSession(models.Model):
    """How far a session is indexed: all of its actions up to `indexed_through`.

    `erasures` counts how often steps of it were rewritten: who read a text before that must not keep what it was found by.
    """

    session = models.OneToOneField(Session, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    indexed_through = models.BigIntegerField(default=0)
    erasures = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "tm_indexed_session"

    def __str__(self) -> str:
        return f"{self.session_id} through {self.indexed_through}"


class Indexing(ProjectWork):
    """The indexing of a project."""

    class Meta:
        db_table = "tm_indexing"

    def __str__(self) -> str:
        return f"indexing of {self.project_id}"


class CountedWord(models.Model):
    """A stem or identifier that many steps of a project hold, and about how many, when they were counted last; an empty one for how many steps there were.

    A trigger deletes all of a project where something of it is erased; that must not wait for whoever counts, so nothing is referred to.
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

    def __str__(self) -> str:
        return f"{self.word}: {self.steps}"
