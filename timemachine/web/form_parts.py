"""Building blocks of forms: a base class that shows errors at their fields, common fields, and amounts written in a field."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from django import forms
from django.http import HttpRequest

from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.numbers import NOT_RECORDED
from timemachine.knowledge.find import DEFAULT_TOP_K
from timemachine.llm.pure.listing import Choice
from timemachine.web.errors import page_message

if TYPE_CHECKING:
    from django.http import QueryDict

MODES = [("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ANY = ""
ONE_LINE = {"autocomplete": "off"}
CODE = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
_NUMBER_ERRORS: Final = ("required", "invalid", "min_value", "max_value")
_PROTECTS_THE_DATABASE: Final = 2**53


def sent(request: HttpRequest) -> "QueryDict | None":
    """Return the submitted data; None if the request only shows the form."""
    return request.POST if request.method == "POST" else None


class _Field(forms.BoundField):
    """A field that gets the focus if it is the first one with an error. When htmx swaps the form, a valid password stays as typed."""

    def build_widget_attrs(self, attrs: dict[str, Any], widget: forms.Widget | None = None) -> dict[str, Any]:
        built = super().build_widget_attrs(attrs, widget)
        if getattr(self.form, "first_error", None) == self.name and not self.use_fieldset:
            built["autofocus"] = True
        if isinstance(widget or self.field.widget, forms.PasswordInput) and not self.errors:
            built["hx-preserve"] = "true"
        return built


class RecordForm(forms.Form):
    """A form whose elements have unique ids on a page with several forms, and that shows the errors of commands at its fields."""

    ids: ClassVar[str] = "id"
    bound_field_class = _Field
    places: ClassVar[Mapping[str, str]] = {}
    """The field for an error, by its code or by the field that it names; under `ANY` every other error."""
    _refused: int = 0

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, auto_id=f"{self.ids}_%s", label_suffix="", **options)

    @property
    def http_status(self) -> int:
        """Return the HTTP status of the page that shows this form."""
        return self._refused or (422 if self.is_bound and self.errors else 200)

    @property
    def first_error(self) -> str | None:
        """Return the name of the first visible field with an error."""
        return next((field.name for field in self.visible_fields() if field.name in self.errors), None)

    def run[T](self, command: Callable[[], T]) -> T | None:
        """Run a command if the form is valid. Return its result; None if the form was not sent or refused, with its errors and `http_status`."""
        if not self.is_valid():
            return None
        try:
            return command()
        except TimeMachineError as why:
            self.refuse(why)
            return None

    def succeeds(self, command: Callable[[], object]) -> bool:
        """Run a command as `run` does; return whether it succeeded."""
        return self.run(lambda: (command(),)) is not None

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field, or above the form; return the HTTP status."""
        about = why.code if why.code in self.places else why.facts.get("field") or why.code
        field = self.places.get(about, about)
        self.add_error(
            field if field in self.fields else self.places.get(ANY), page_message(why, self._labels())
        )
        self._refused = why.status
        return why.status

    def _labels(self) -> dict[str, str]:
        """Return the labels of the fields by their names here and in the API."""
        names = {name: name for name in self.fields} | {
            name: field for name, field in self.places.items() if field in self.fields
        }
        return {
            name: str(self.fields[field].label) for name, field in names.items() if self.fields[field].label
        }


class SentOnce(RecordForm):
    """A form that creates one thing, however often it is submitted: the thing gets the form's id, which changes each time the form is shown."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field; return the HTTP status. A form whose id is used gets a new one."""
        if why.code == "form_used":
            self.data = cast("QueryDict", self.data).copy()
            self.data["form_id"] = str(uuid7())
        return super().refuse(why)


class FilesInput(forms.FileInput):
    """An input for several files."""

    allow_multiple_selected = True


class WholeNumber(forms.IntegerField):
    """A whole number, whose errors are one sentence with its name and limits; Django's own messages name no field."""

    def __init__(
        self, *, label: str, min_value: int | None = None, max_value: int | None = None, **more: Any
    ) -> None:
        errors = _number_errors(label, "a whole number", min_value, max_value)
        super().__init__(label=label, min_value=min_value, max_value=max_value, error_messages=errors, **more)


class Number(forms.FloatField):
    """A number, with errors as in `WholeNumber`."""

    def __init__(
        self, *, label: str, min_value: float | None = None, max_value: float | None = None, **more: Any
    ) -> None:
        errors = _number_errors(label, "a number", min_value, max_value)
        super().__init__(label=label, min_value=min_value, max_value=max_value, error_messages=errors, **more)


def _number_errors(label: str, what: str, least: float | None, most: float | None) -> dict[str, str]:
    """Return one sentence for all errors. A limit that only protects the database is not mentioned."""
    if least is None:
        limits = ""
    elif most is None or most >= _PROTECTS_THE_DATABASE:
        limits = f" of at least {least:,}"
    else:
        limits = f" from {least:,} to {most:,}"
    return dict.fromkeys(_NUMBER_ERRORS, f"“{label}” must be {what}{limits}.")


class ModelPicker(forms.TextInput):
    """A text field for the name of a model, with a list of models to choose from. Any other name can be typed."""

    def __init__(self, *, several: bool = False) -> None:
        super().__init__(attrs=CODE | {"class": "mono", "data-models": "several" if several else "one"})
        self.models: Sequence[Choice] = ()

    def offer(self, models: Sequence[Choice], list_id: str, *, listed: bool = True) -> None:
        """Offer these models. Without `listed`, another field of the page has the list with this id."""
        self.attrs["list"] = list_id
        self.models = models if listed else ()


def server_hints(models: Sequence[Choice]) -> str:
    """Return for each server that an administrator added how its models are written."""
    addresses = {each.name.provider: each.address for each in models if each.address}
    return " ".join(
        f"Any model of {address} can be written as {provider}:NAME."
        for provider, address in addresses.items()
    )


def with_problem(model: str | None, models: Sequence[Choice]) -> str:
    """Return the name of a model as the lists show it, with why its provider cannot be called."""
    provider = (model or "").partition(":")[0]
    why_not = next((each.why_not for each in models if each.name.provider == provider), None)
    return f"{model or NOT_RECORDED}{f': {why_not}' if why_not else ''}"


class ModelFields(forms.Form):
    """Choose a model from a list, or write its name."""

    models_id: ClassVar[str] = "models"
    model = forms.CharField(label="Model", required=False, widget=ModelPicker)

    def offer_models(self, models: Sequence[Choice], help_text: str = "", *, listed: bool = True) -> None:
        """Offer these models; `help_text` says what an empty field means. See `ModelPicker.offer`."""
        field = self.fields["model"]
        cast("ModelPicker", field.widget).offer(models, self.models_id, listed=listed)
        field.help_text = " ".join(filter(None, [help_text, server_hints(models)]))

    def offer_other_models(
        self, choices: Sequence[Choice], recorded: str | None, *, estimating: bool = False
    ) -> None:
        """Offer these models instead of the recorded one. If none was recorded, one must be chosen, except for an estimate."""
        if recorded:
            self.offer_models(
                choices, f"Leave empty to use the recorded model: {with_problem(recorded, choices)}"
            )
            return
        self.offer_models(choices, "The model of this step was not recorded.")
        self.fields["model"].required = not estimating
        self.fields["model"].error_messages["required"] = "Choose a model."

    @property
    def chosen_model(self) -> str:
        """Return the chosen model; empty if no model was chosen."""
        return str(self.cleaned_data["model"].strip())


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


def area_field(
    label: str, help_text: str = "", rows: int = 2, *, code: bool = False, **more: Any
) -> forms.CharField:
    """Return an optional text area; with `code`, in a monospace font and without spell checking."""
    attrs = {"rows": rows} | ({"class": "mono", "spellcheck": "false"} if code else {})
    widget = forms.Textarea(attrs=attrs)
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget, **more)


def url_field(label: str, help_text: str) -> forms.CharField:
    """Return an optional field for a URL."""
    widget = forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, required=False, max_length=500, widget=widget, help_text=help_text)


def top_k_field(largest: int) -> forms.IntegerField:
    """Return a field for a whole number from 1 to `largest`."""
    wrong = f"Top-k must be a whole number from 1 to {largest:,}."
    return forms.IntegerField(
        label="Top-k",
        min_value=1,
        max_value=largest,
        initial=DEFAULT_TOP_K,
        error_messages=dict.fromkeys(_NUMBER_ERRORS, wrong),
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


def usd_as_written(text: str, field: str) -> float | None:
    """Return US dollars, None for an empty text; a leading dollar sign is allowed. Raises `InvalidInput`, which names the field."""
    written = text.strip().removeprefix("$").strip()
    if not written:
        return None
    try:
        amount = float(written)
    except ValueError:
        amount = float("nan")
    if not isfinite(amount) or amount < 0:
        raise InvalidInput(
            f"{text[:40]!r} is not an amount in US dollars. Enter a number, for example 0.25.",
            code="invalid_field",
            field=field,
        )
    return amount
