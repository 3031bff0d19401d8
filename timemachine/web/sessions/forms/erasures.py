"""Forms of an erasure: what to erase, and why."""

from collections.abc import Sequence
from typing import Any

from django import forms

from timemachine.text.redaction.pure.paths import OF_ACTION, OF_SESSION, SESSION
from timemachine.text.redaction.pure.profile import Profile
from timemachine.web.form_parts import RecordForm
from timemachine.web.settings.forms.redaction import ABOUT_BUILT_IN
from timemachine.web.settings.forms.retention import ReasonForm, reason_field

OF_A_STEP = [(name, name.replace("_", " ")) for name in OF_ACTION]
OF_THE_SESSION = [(f"{SESSION}.{name}", name) for name in OF_SESSION]


class FindingsForm(RecordForm):
    """Erase everything that a redaction profile matches."""

    ids = "findings"

    redaction = forms.ChoiceField(label="Profile", help_text=ABOUT_BUILT_IN)

    def __init__(self, data: Any = None, *, choices: Sequence[Profile]) -> None:
        super().__init__(data)
        self.fields["redaction"].choices = [(each.handle, each.name) for each in choices]  # type: ignore[attr-defined]


class FieldsForm(RecordForm):
    """Erase chosen fields of some steps or of all."""

    ids = "fields"

    of_step = forms.MultipleChoiceField(
        label="Fields of steps", choices=OF_A_STEP, required=False, widget=forms.CheckboxSelectMultiple
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        max_length=10_000,
        help_text="Step numbers, for example 3, 7, 12. Leave empty for every step.",
    )
    of_session = forms.MultipleChoiceField(
        label="Fields of the session itself",
        choices=OF_THE_SESSION,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    paths = forms.CharField(
        label="Other fields, by path",
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text="One per line: input.messages[*].content, retrieval.hits[*].metadata.*.",
    )

    def clean_steps(self) -> list[int]:
        """Return the step numbers, whole numbers from 1."""
        written = self.cleaned_data["steps"].replace(",", " ").split()
        if not all(each.isascii() and each.isdigit() and len(each) < 19 and int(each) for each in written):  # noqa: PLR2004
            raise forms.ValidationError("Enter step numbers, for example 3, 7, 12.")
        return [int(each) for each in written]

    @property
    def chosen(self) -> list[str]:
        """Return the paths of the chosen fields."""
        said = self.cleaned_data
        return [*said["of_step"], *said["of_session"], *said["paths"].split()]


class ErasureReasonForm(ReasonForm):
    """The reason for an erasure or deletion."""

    ids = "erasure"
    reason = reason_field("Stored permanently in the project's log. Do not repeat what you erase.")
