"""The notes on a step, and the form that adds one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from timemachine.core.accounts.models import OPERATOR
from timemachine.recording.annotations.notes.commands import may_delete
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import note_counts, noted_steps, notes_at
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.minimap import StepRange
from timemachine.recording.timeline.rows import Window
from timemachine.web.access import Access
from timemachine.web.form_parts import RecordForm, text_field
from timemachine.web.sessions.presenters.minimap_plot import MOST_PINS
from timemachine.web.single_submission import SentOnce


class NoteForm(RecordForm, SentOnce):
    """Add a note to a step."""

    ids = "note"
    places: ClassVar[Mapping[str, str]] = {"too_many_notes": "text"}
    text = text_field(
        "Add a note",
        2,
        "Enter a note.",
        f"Not part of the record. At most {LONGEST_TEXT:,} characters.",
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["text"].widget.attrs["data-key"] = "p"
        self.fields["text"].validators = []  # any text is kept, U+0000 too

    def clean_text(self) -> str:
        """Return the text with LF line ends; browsers send CR LF."""
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error and focus the field, which is below a long step."""
        super().add_error(field, error)
        self.fields["text"].widget.attrs["autofocus"] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNote:
    """A note, and whether the current person may delete it."""

    note: Note
    may_delete: bool


def notes_on(access: Access, session: Session, sequence: int, form: NoteForm | None) -> dict[str, Any]:
    """Return the notes on a step and the form (the submitted one if it was refused)."""
    writes = access.may(OPERATOR)
    by, administers = access.user.email, access.administers
    return {
        "step_notes": [
            ShownNote(note=each, may_delete=writes and may_delete(each, by=by, administers=administers))
            for each in notes_at(session, sequence)
        ],
        "note_form": (form or NoteForm()) if writes else None,
    }


def noted_rows(session: Session, window: Window) -> dict[int, int]:
    """Return the number of notes of each row of a window, by step. One query."""
    return note_counts(session, [place.step.sequence for place in window.rows])


def ticks(session: Session, stretch: StepRange) -> Sequence[int]:
    """Return the steps with notes in a range, one more than are drawn. One query."""
    return noted_steps(session, stretch.first, stretch.last, MOST_PINS + 1)
