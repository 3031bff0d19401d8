"""The notes on a step, and the form that adds one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import QueryDict

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.annotations.notes.commands import may_delete
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import note_counts, notes_at
from timemachine.recording.annotations.significance.commands import UNCHANGED, change
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.rows import Window
from timemachine.web.access import Access
from timemachine.web.errors import page_message
from timemachine.web.form_parts import SentOnce, text_field


class NoteForm(SentOnce):
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


def notes_on(access: Access, session: Session, sequence: int, form: NoteForm | None) -> dict[str, object]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSignificance:
    """The submitted values, to show them again, and why they were refused."""

    significance: str
    importance: str
    why: str
    status: int


def change_significance(
    session: Session, step: int, data: QueryDict, *, by: str
) -> RefusedSignificance | None:
    """Change the significance of the step; return None, or what was refused. Raises `NotFound` for a missing step, `Conflict` for a deleted one."""
    significance, importance = data.get("significance", "").strip(), data.get("importance", "").strip()
    try:
        change(
            session,
            step,
            by=by,
            significance=UNCHANGED if _stands(data, "significance") else significance or None,
            importance=UNCHANGED if _stands(data, "importance") else _importance(importance),
        )
    except InvalidInput as why:
        return RefusedSignificance(
            significance=significance, importance=importance, why=page_message(why), status=why.status
        )
    return None


def _stands(data: QueryDict, name: str) -> bool:
    """Return whether a field is unchanged, so that another person's change in the meantime is kept."""
    return name not in data or str(data[name]).strip() == data.get(f"{name}_was", "\0")


def _importance(written: str) -> float | None:
    if not written:
        return None
    try:
        return float(written)
    except ValueError as why:
        raise InvalidInput(
            f"{written[:40]!r} is not an importance. Enter a number from 0 to 1, for example 0.9.",
            code="invalid_field",
            field="importance",
        ) from why
