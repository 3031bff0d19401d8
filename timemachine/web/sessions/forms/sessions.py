"""The forms of a session: it is started, worked in, erased, and brought from other tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.knowledge.find import DEFAULT_TOP_K, LARGEST_TOP_K
from timemachine.llm.pure.listing import Choice
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.web.form_parts import (
    ANY,
    CODE,
    ONE_LINE,
    FilesInput,
    RecordForm,
    line_field,
    mode_field,
    text_field,
    top_k_field,
)
from timemachine.web.knowledge.forms.collections import FilesForm, PassageForm
from timemachine.web.model_select import ModelSelect
from timemachine.web.option_fields import ThresholdFields

DOINGS = [("find", "Find"), ("ask", "Ask")]
_AS_USUAL = (None, "", False, "hybrid", DEFAULT_TOP_K, str(DEFAULT_TOP_K))


def _collection(help_text: str) -> forms.CharField:
    missing = {"required": "Name the collection."}
    widget = forms.TextInput(attrs=ONE_LINE)
    return forms.CharField(label="Collection", help_text=help_text, widget=widget, error_messages=missing)


class SessionForm(RecordForm):
    """A session that begins."""

    ids = "new_session"
    places: ClassVar[Mapping[str, str]] = {"invalid_key": "key", "key_taken": "key", "name": "new_collection"}
    name = forms.CharField(
        label="Name",
        widget=forms.TextInput(attrs=ONE_LINE | {"placeholder": "What is it about?"}),
        error_messages={"required": "Give the session a name."},
    )
    collection = forms.ChoiceField(
        label="Collection",
        required=False,
        help_text="What finds and asks look in. It cannot be changed later.",
        error_messages={
            "invalid_choice": "There is no such collection in this project any more; choose another."
        },
    )
    new_collection = line_field("Or a new collection", "Its name; it is made with the session.")
    agent = line_field("Agent", "Who acts: a program's name, or yours.")
    key = line_field(
        "Key",
        "By which programs name the session: A–Z a–z 0–9 . _ : @ -. One is made when it is empty.",
        code=True,
    )

    def __init__(self, data: Any = None, *, collections: Iterable[str], **options: Any) -> None:
        super().__init__(data, **options)
        field = cast("forms.ChoiceField", self.fields["collection"])
        field.choices = [("", "None"), *((name, name) for name in collections)]

    def clean_new_collection(self) -> str:
        """Either an existing collection or a new one."""
        name: str = self.cleaned_data["new_collection"]
        if name and self.cleaned_data.get("collection"):
            raise forms.ValidationError("Choose a collection above or name a new one, not both.")
        return name


class _InSession(RecordForm):
    """What is done goes by the session's collection; only where it has none the form asks for one."""

    def __init__(self, data: Any = None, *, has_collection: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if has_collection:
            del self.fields["collection"]


class WorkForm(_InSession, ThresholdFields):
    """A find or an ask that is done and recorded."""

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
    text = text_field("Question or query", 3, "Write a question, or what to look for.")
    mode = mode_field()
    top_k = top_k_field(LARGEST_TOP_K)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)
    no_cache = forms.BooleanField(
        label="Ask the model again, even where the answer is in the cache", required=False
    )
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = line_field(
        "Or another model", "As provider:model; it counts instead of the one above.", code=True
    )
    collection = _collection("This session has none of its own: say which one to look in.")

    def __init__(self, data: Any = None, *, models: Sequence[Choice], default: str, **options: Any) -> None:
        super().__init__(data, **options)
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(models, f"The default: {default}")
        self.default_model = default

    def clean_text(self) -> str:
        """Blanks are no question."""
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise forms.ValidationError(self.fields["text"].error_messages["required"])
        return text.replace("\r\n", "\n")

    def refuse(self, why: TimeMachineError) -> int:
        """A model that was named by hand is refused where it was named."""
        if self.cleaned_data.get("other_model") and self.places.get(why.code) == "model":
            self.add_error("other_model", why.message)
            return why.status
        return super().refuse(why)

    @property
    def options_open(self) -> bool:
        """Whether something under the options was chosen or is wrong."""
        names = ("other_model", "mode", "top_k", "adaptive", "no_cache")
        return self.thresholds_open or any(
            self[name].errors or self[name].value() not in _AS_USUAL for name in names
        )

    @property
    def chosen_model(self) -> str:
        """The model to ask; empty for the default."""
        said: Mapping[str, Any] = self.cleaned_data
        return str(said["other_model"] or said["model"])


class WorkPassageForm(_InSession, PassageForm):
    """A passage that is put and recorded."""

    ids = "work_passage"
    places: ClassVar[Mapping[str, str]] = {"name": "collection"}
    collection = _collection("This session has none of its own: say which one to put it in.")


class WorkFilesForm(_InSession, FilesForm):
    """Files that are put and recorded."""

    ids = "work_files"
    places: ClassVar[Mapping[str, str]] = {"name": "collection", ANY: "file"}
    collection = _collection("This session has none of its own: say which one to put them in.")


class DeleteForm(RecordForm):
    """The name of a session once more, so that nobody deletes one by a slip."""

    ids = "delete"
    name = forms.CharField(
        label="Its name, to be sure",
        strip=False,
        widget=forms.TextInput(attrs=CODE),
        error_messages={"required": "Write the session's name to delete it."},
    )
    reason = line_field(
        "Reason, if you want to say one",
        "It stays in the project's log for good, beside who deleted it and when: write nothing of what is deleted.",
    )


class ImportForm(RecordForm):
    """Files of other tools."""

    ids = "import"
    places: ClassVar[Mapping[str, str]] = {ANY: "file"}
    file = forms.FileField(
        label="Files",
        required=False,
        widget=FilesInput(attrs={"multiple": True}),
        help_text="At most 512 MB at once, also unpacked; they may be packed with gzip.",
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Recognised from the file"), *((each.name, each.title) for each in FORMATS.values())],
        error_messages={"invalid_choice": "There is no such format; choose one of these."},
    )
