"""A note as a JSON document."""

from typing import Any

from timemachine.core.pure.clock import written
from timemachine.recording.annotations.notes.models import Note


def note_json(note: Note) -> dict[str, Any]:
    """The note with its step, its author and when it was written (RFC 3339)."""
    return {
        "id": str(note.id),
        "sequence": note.sequence,
        "text": note.text,
        "created_at": written(note.created_at),
        "created_by": note.created_by,
    }
