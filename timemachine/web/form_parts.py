"""What the forms with which a person records are made of: ids of their own, refusals at their fields, fields of one kind."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.knowledge.find import DEFAULT_TOP_K

MODES = [("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ANY = ""
ONE_LINE = {"autocomplete": "off"}
CODE = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}


class RecordForm(forms.Form):
    """A form whose elements have ids of their own on a page with several forms."""

    ids: ClassVar[str] = "id"
    places: ClassVar[Mapping[str, str]] = {}
    """The field at which an error is said, by the code or the field that it names; under `ANY` every other one."""

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, auto_id=f"{self.ids}_%s", label_suffix="", **options)

    def refuse(self, why: TimeMachineError) -> int:
        """Say at the field that it is about, or above the form, what did not work; the status to answer with."""
        about = why.facts.get("field") or why.code
        field = self.places.get(about, about)
        self.add_error(field if field in self.fields else self.places.get(ANY), why.message)
        return why.status


class FilesInput(forms.FileInput):
    """An input that takes several files."""

    allow_multiple_selected = True


def line_field(label: str, help_text: str = "", *, code: bool = False) -> forms.CharField:
    """A line that may stay empty; `code` is neither spelled nor capitalised for its writer."""
    widget = forms.TextInput(attrs=CODE if code else ONE_LINE)
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget)


def text_field(
    label: str, rows: int, missing: str, help_text: str = "", *, required: bool = True
) -> forms.CharField:
    """A text of several lines, which keeps its blanks; `missing` is said where it is required and empty."""
    return forms.CharField(
        label=label,
        required=required,
        strip=False,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": rows}),
        error_messages={"required": missing},
    )


def top_k_field(largest: int) -> forms.IntegerField:
    """A whole number from 1 to `largest`."""
    wrong = f"Top k is a whole number from 1 to {largest:,}."
    return forms.IntegerField(
        label="Top k",
        min_value=1,
        max_value=largest,
        initial=DEFAULT_TOP_K,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wrong),
    )


def mode_field() -> forms.ChoiceField:
    """How passages are found."""
    wrong = "The mode is hybrid, semantic or lexical."
    return forms.ChoiceField(
        label="Mode",
        choices=MODES,
        initial="hybrid",
        error_messages={"invalid_choice": wrong, "required": wrong},
    )
