"""Notes that people and programs add to steps, stored separately from the record, which never changes."""

from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length, Now
from django.db.models.lookups import LessThanOrEqual

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session

LONGEST_TEXT: Final = 2_000
LONGEST_STORED: Final = 6 * LONGEST_TEXT
"""Length of such a text in the database if Postgres refuses every character of it (see `core.pure.postgres_text`)."""
LIVE: Final = Q(deleted_at=None)


class Note(models.Model):
    """A note on one step of a session. Deleting it removes its text and keeps who deleted it and when."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.DB_CASCADE, related_name="notes")
    sequence = models.BigIntegerField()
    text = FaithfulTextField(blank=True)
    created_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(db_default=Now())
    deleted_by = models.CharField(max_length=254, null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tm_note"
        constraints = [
            models.CheckConstraint(condition=Q(sequence__gte=1), name="note_of_a_step"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), LONGEST_STORED), name="note_of_bounded_length"
            ),
            models.CheckConstraint(
                condition=Q(LIVE, ~Q(text=""), deleted_by=None)
                | Q(deleted_at__isnull=False, deleted_by__isnull=False, text=""),
                name="note_has_a_text_or_was_deleted",
            ),
        ]
        indexes = [models.Index(fields=["session", "sequence", "id"], condition=LIVE, name="note_in_order")]
