"""Forms of sessions: start, record, import, delete, and erase."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from django import forms

from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.safe_text import shown
from timemachine.knowledge.find import DEFAULT_TOP_K, LARGEST_TOP_K
from timemachine.llm.pure.listing import Choice
from timemachine.memory.transcripts.summarising import EXTRACTIVE
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.paths import OF_ACTION, OF_SESSION, SESSION
from timemachine.text.redaction.pure.profile import Profile
from timemachine.web import form_parts as parts
from timemachine.web.knowledge.forms import FilesForm, PassageForm
from timemachine.web.option_fields import ThresholdFields
from timemachine.web.settings.forms.redaction import ABOUT_BUILT_IN
from timemachine.web.settings.forms.retention import ReasonForm, reason_field

DOINGS = [("find", "Find"), ("ask", "Ask")]
OF_A_STEP = [(name, name.replace("_", " ")) for name in OF_ACTION]
OF_THE_SESSION = [(f"{SESSION}.{name}", name) for name in OF_SESSION]
_AS_USUAL = (None, "", False, "hybrid", DEFAULT_TOP_K, str(DEFAULT_TOP_K))


def _collection(help_text: str) -> forms.CharField:
    missing = {"required": "Choose a collection."}
    widget = forms.TextInput(attrs=parts.ONE_LINE)
    return forms.CharField(label="Collection", help_text=help_text, widget=widget, error_messages=missing)


class SessionForm(parts.RecordForm):
    """Start a session."""

    ids = "new_session"
    places: ClassVar[Mapping[str, str]] = {"invalid_key": "key", "key_taken": "key", "name": "new_collection"}
    name = forms.CharField(
        label="Name",
        widget=forms.TextInput(attrs=parts.ONE_LINE | {"placeholder": "What is it about?"}),
        error_messages={"required": "Enter a name for the session."},
    )
    collection = forms.ChoiceField(
        label="Collection",
        required=False,
        help_text="The collection that finds and asks search. It cannot be changed later.",
        error_messages={"invalid_choice": "This collection no longer exists. Choose another one."},
    )
    new_collection = parts.line_field(
        "Or a new collection", "The name of a collection to create with the session."
    )
    agent = parts.line_field("Agent", "The name of the agent, or your own.")
    key = parts.line_field(
        "Key",
        "Identifies the session in the API: A–Z a–z 0–9 . _ : @ -. Leave empty to generate one.",
        code=True,
    )

    def __init__(self, data: Any = None, *, collections: Iterable[str], **options: Any) -> None:
        super().__init__(data, **options)
        field = cast("forms.ChoiceField", self.fields["collection"])
        field.choices = [("", "None"), *((name, name) for name in collections)]

    def clean_new_collection(self) -> str:
        """Return the name of the new collection. Only one of the two collection fields may be filled in."""
        name: str = self.cleaned_data["new_collection"]
        if name and self.cleaned_data.get("collection"):
            raise forms.ValidationError("Choose a collection above or enter a new one, not both.")
        return name


class _InSession(parts.RecordForm):
    """A form that uses the session's collection, and asks for one only if the session has none."""

    def __init__(self, data: Any = None, *, has_collection: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if has_collection:
            del self.fields["collection"]


class WorkForm(_InSession, parts.ModelFields, ThresholdFields):
    """Run and record a find or an ask."""

    ids = "work"
    places: ClassVar[Mapping[str, str]] = {
        "query": "text",
        "unknown_model": "model",
        "model_not_usable": "model",
        "collection_not_found": "collection",
    }
    do = forms.ChoiceField(
        label="Do",
        choices=DOINGS,
        initial="ask",
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": "Choose Find or Ask.", "required": "Choose Find or Ask."},
    )
    text = parts.text_field("Question or query", 3, "Enter a question or a search query.")
    mode = parts.mode_field()
    top_k = parts.top_k_field(LARGEST_TOP_K)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)
    no_cache = forms.BooleanField(label="Ask the model again, even if the answer is cached", required=False)
    collection = _collection("This session has no collection. Choose one to search.")

    def __init__(self, data: Any = None, *, models: Sequence[Choice], default: str, **options: Any) -> None:
        super().__init__(data, **options)
        self.offer_models(models, f"Leave empty for the default: {parts.with_problem(default, models)}")
        self.default_model = default

    def clean_text(self) -> str:
        """Return the text, which must not be blank."""
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise forms.ValidationError(self.fields["text"].error_messages["required"])
        return text.replace("\r\n", "\n")

    @property
    def options_open(self) -> bool:
        """Return whether an option was set or has an error."""
        names = ("mode", "top_k", "adaptive", "no_cache")
        return self.thresholds_open or any(
            self[name].errors or self[name].value() not in _AS_USUAL for name in names
        )


class WorkPassageForm(_InSession, PassageForm):
    """Store a passage and record it."""

    ids = "work_passage"
    places: ClassVar[Mapping[str, str]] = {"name": "collection"}
    collection = _collection("This session has no collection. Choose one for the passage.")


class WorkFilesForm(_InSession, FilesForm):
    """Store files and record them."""

    ids = "work_files"
    places: ClassVar[Mapping[str, str]] = {"name": "collection", parts.ANY: "file"}
    collection = _collection("This session has no collection. Choose one for the files.")


class DeleteForm(parts.RecordForm):
    """Delete a session; its name must be typed to confirm."""

    ids = "delete"
    name = forms.CharField(
        label="Session name",
        strip=False,
        widget=forms.TextInput(attrs=parts.CODE),
        error_messages={"required": "Enter the session's name to delete it."},
    )
    reason = parts.line_field(
        "Reason (optional)",
        "Stored permanently in the project's log. Do not repeat what you delete.",
    )

    def __init__(self, data: Any = None, *, session: Session) -> None:
        super().__init__(data)
        self.session = session

    def clean_name(self) -> str:
        """Return the name of the session, as stored or as shown, or its key."""
        name: str = self.cleaned_data["name"]
        names = {self.session.name.strip(), shown(self.session.name).strip(), self.session.key}
        if name.strip() not in names:
            raise forms.ValidationError("This is not the session's name. Nothing was deleted.")
        return name


class ImportForm(parts.RecordForm):
    """Import files from other tools."""

    ids = "import"
    places: ClassVar[Mapping[str, str]] = {parts.ANY: "file"}
    file = forms.FileField(
        label="Drop files here, or choose them",
        required=False,
        widget=parts.FilesInput(attrs={"multiple": True}),
        help_text="At most 512 MB in total after unpacking. Files can be compressed with gzip.",
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Detect automatically"), *((each.name, each.title) for each in FORMATS.values())],
        error_messages={"invalid_choice": "Unknown format. Choose one of these."},
    )


class SummaryForm(parts.RecordForm, parts.ModelFields):
    """The model that writes the summary, and the collection that stores it."""

    ids = "summary"
    collection = parts.line_field("Collection", "Stores the summary. Created if it does not exist.")

    def __init__(self, data: Any = None, *, session: Session, models: Sequence[Choice]) -> None:
        own = session.collection.name if session.collection else ""
        super().__init__(data, initial={"collection": own})
        self.offer_models(models, f"Leave empty for {EXTRACTIVE}, which quotes the most important steps.")


class FindingsForm(parts.RecordForm):
    """Erase everything that a redaction profile matches."""

    ids = "findings"

    redaction = forms.ChoiceField(label="Profile", help_text=ABOUT_BUILT_IN)

    def __init__(self, data: Any = None, *, choices: Sequence[Profile]) -> None:
        super().__init__(data)
        self.fields["redaction"].choices = [(each.handle, each.name) for each in choices]  # type: ignore[attr-defined]


class FieldsForm(parts.RecordForm):
    """Erase chosen fields of some steps or of all."""

    ids = "fields"

    of_step = forms.MultipleChoiceField(
        label="Fields of steps", choices=OF_A_STEP, required=False, widget=forms.CheckboxSelectMultiple
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        max_length=10_000,
        help_text="Step numbers, for example 3, 7, 12. Leave empty for all steps.",
    )
    of_session = forms.MultipleChoiceField(
        label="Fields of the session itself",
        choices=OF_THE_SESSION,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    paths = parts.area_field(
        "Other fields, by path",
        "One per line: input.messages[*].content, retrieval.hits[*].metadata.*.",
        code=True,
        max_length=10_000,
    )

    def clean_steps(self) -> list[int]:
        """Return the step numbers, whole numbers from 1."""
        numbers = [whole_number(each) for each in self.cleaned_data["steps"].replace(",", " ").split()]
        if not all(numbers):
            raise forms.ValidationError("Enter step numbers, for example 3, 7, 12.")
        return [each for each in numbers if each]

    @property
    def chosen(self) -> list[str]:
        data = self.cleaned_data
        return [*data["of_step"], *data["of_session"], *data["paths"].split()]


class ErasureReasonForm(ReasonForm):
    """The reason for an erasure or deletion."""

    ids = "erasure"
    reason = reason_field("Stored permanently in the project's log. Do not repeat what you erase.")
