"""The notes of a step as its page shows them, and the form that adds one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from timemachine.core.accounts.models import OPERATOR
from timemachine.recording.annotations.notes.commands import may_delete
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import note_counts, noted_steps, notes_at
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.minimap import Stretch
from timemachine.recording.timeline.rows import Window
from timemachine.web.access import Access
from timemachine.web.form_parts import RecordForm, text_field
from timemachine.web.sessions.presenters.minimap_plot import MOST_PINS
from timemachine.web.single_submission import SentOnce


class NoteForm(RecordForm, SentOnce):
    """A sentence that is pinned to a step."""

    ids = "note"
    places: ClassVar[Mapping[str, str]] = {"too_many_notes": "text"}
    text = text_field(
        "Add a note",
        2,
        "Write what is to be remembered of this step.",
        f"Beside the record, which stays as it is. At most {LONGEST_TEXT:,} characters.",
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["text"].widget.attrs["data-key"] = "p"
        self.fields["text"].validators = []  # any text is kept, U+0000 too

    def clean_text(self) -> str:
        """Browsers end lines with CR LF."""
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")

    def add_error(self, field: str | None, error: Any) -> None:
        """The field that has to be mended is below a long step: the page opens at it."""
        super().add_error(field, error)
        self.fields["text"].widget.attrs["autofocus"] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNote:
    """A note, and whether who looks may delete it."""

    note: Note
    may_delete: bool


def notes_on(access: Access, session: Session, sequence: int, form: NoteForm | None) -> dict[str, Any]:
    """What a step's page shows of its notes: each of them, and the form (the one that was sent, where it was refused)."""
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
    """How many notes the rows of a window have, by their steps. One query."""
    return note_counts(session, [place.step.sequence for place in window.rows])


def ticks(session: Session, stretch: Stretch) -> Sequence[int]:
    """The steps of a stretch that have notes, one more than are drawn. One query."""
    return noted_steps(session, stretch.first, stretch.last, MOST_PINS + 1)
