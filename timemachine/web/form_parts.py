"""Building blocks of forms: unique element ids, errors at fields, common fields."""

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
    """A form whose elements have unique ids on a page with several forms."""

    ids: ClassVar[str] = "id"
    places: ClassVar[Mapping[str, str]] = {}
    """The field for an error, by its code or by the field that it names; under `ANY` every other error."""

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, auto_id=f"{self.ids}_%s", label_suffix="", **options)

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field, or above the form; return the HTTP status."""
        about = why.facts.get("field") or why.code
        field = self.places.get(about, about)
        self.add_error(field if field in self.fields else self.places.get(ANY), why.message)
        return why.status


class FilesInput(forms.FileInput):
    """An input for several files."""

    allow_multiple_selected = True


def line_field(label: str, help_text: str = "", *, code: bool = False) -> forms.CharField:
    """Return an optional text field; with `code`, without spell checking and capitalisation."""
    widget = forms.TextInput(attrs=CODE if code else ONE_LINE)
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget)


def text_field(
    label: str, rows: int, missing: str, help_text: str = "", *, required: bool = True
) -> forms.CharField:
    """Return a text area that keeps white space; `missing` is the error if it is required and empty."""
    return forms.CharField(
        label=label,
        required=required,
        strip=False,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": rows}),
        error_messages={"required": missing},
    )


def top_k_field(largest: int) -> forms.IntegerField:
    """Return a field for a whole number from 1 to `largest`."""
    wrong = f"Top k must be a whole number from 1 to {largest:,}."
    return forms.IntegerField(
        label="Top k",
        min_value=1,
        max_value=largest,
        initial=DEFAULT_TOP_K,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wrong),
    )


def mode_field() -> forms.ChoiceField:
    """Return a field for the search mode."""
    wrong = "Mode must be hybrid, semantic or lexical."
    return forms.ChoiceField(
        label="Mode",
        choices=MODES,
        initial="hybrid",
        error_messages={"invalid_choice": wrong, "required": wrong},
    )
