"""The forms of an erasure: what shall be looked for, and why it goes."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.evidence.pure.reason import LONGEST
from timemachine.text.redaction.pure.paths import OF_ACTION, OF_SESSION, SESSION
from timemachine.text.redaction.pure.profile import Profile
from timemachine.web.settings.forms.accounts import AccountForm
from timemachine.web.settings.forms.redaction import ABOUT_BUILT_IN

OF_A_STEP = [(name, name.replace("_", " ")) for name in OF_ACTION]
OF_THE_SESSION = [(f"{SESSION}.{name}", name) for name in OF_SESSION]


class _Refusing(AccountForm):
    def refuse(self, why: TimeMachineError) -> int:
        """Say what a command refused, at the field that it names; the status of the answer."""
        field = why.facts.get("field")
        self.add_error(field if field in self.fields else None, why.message)
        return why.status


class FindingsForm(_Refusing):
    """Whatever a profile finds."""

    ids: ClassVar[str] = "findings"

    redaction = forms.ChoiceField(label="Profile", help_text=ABOUT_BUILT_IN)

    def __init__(self, data: Any = None, *, choices: Sequence[Profile]) -> None:
        super().__init__(data)
        self.fields["redaction"].choices = [(each.handle, each.name) for each in choices]  # type: ignore[attr-defined]


class FieldsForm(_Refusing):
    """Fields that somebody chooses, of some steps or of every one."""

    ids: ClassVar[str] = "fields"

    of_step = forms.MultipleChoiceField(
        label="Fields of steps", choices=OF_A_STEP, required=False, widget=forms.CheckboxSelectMultiple
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        max_length=10_000,
        help_text="Their numbers, like 3, 7, 12. Empty means every step.",
    )
    of_session = forms.MultipleChoiceField(
        label="Fields of the session itself",
        choices=OF_THE_SESSION,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    paths = forms.CharField(
        label="Or by their paths",
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text="One a line: input.messages[*].content, retrieval.hits[*].metadata.*.",
    )

    def clean_steps(self) -> list[int]:
        """Whole numbers from 1."""
        written = self.cleaned_data["steps"].replace(",", " ").split()
        if not all(each.isascii() and each.isdigit() and len(each) < 19 and int(each) for each in written):  # noqa: PLR2004
            raise forms.ValidationError("Write the numbers of steps, like 3, 7, 12.")
        return [int(each) for each in written]

    @property
    def chosen(self) -> list[str]:
        """The fields by their paths."""
        said = self.cleaned_data
        return [*said["of_step"], *said["of_session"], *said["paths"].split()]


class ReasonForm(_Refusing):
    """Why it goes."""

    ids: ClassVar[str] = "erasure"

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        help_text="It stays in the project's log for good: write nothing of what is erased.",
        error_messages={"required": "Give a reason; it stays in the project's log."},
    )
