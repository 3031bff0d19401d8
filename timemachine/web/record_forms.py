"""The forms with which a person records: collections and their passages, sessions and their steps, files of other tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from django import forms

from timemachine.base.errors import TimeMachineError
from timemachine.documents.formats import ENDINGS
from timemachine.exchange.formats import FORMATS
from timemachine.providers.embedding_server import is_configured
from timemachine.providers.listing import Choice
from timemachine.retrieval.embedding.table import NO_SERVER, local_models, why_not
from timemachine.retrieval.finding import DEFAULT_TOP_K, LARGEST_TOP_K
from timemachine.web.model_select import ModelSelect

MODES = [("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ANY = ""
MOST_TRIED = 100
DOINGS = [("find", "Find"), ("ask", "Ask")]
_AS_USUAL = (None, "", False, "hybrid", DEFAULT_TOP_K, str(DEFAULT_TOP_K))
_ONE_LINE = {"autocomplete": "off"}
_CODE = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}


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


class _Files(forms.FileInput):
    allow_multiple_selected = True


def _line(label: str, help_text: str = "", *, code: bool = False) -> forms.CharField:
    widget = forms.TextInput(attrs=_CODE if code else _ONE_LINE)
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget)


def _text(
    label: str, rows: int, missing: str, help_text: str = "", *, required: bool = True
) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        strip=False,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": rows}),
        error_messages={"required": missing},
    )


def _top_k(largest: int) -> forms.IntegerField:
    wrong = f"Top k is a whole number from 1 to {largest:,}."
    return forms.IntegerField(
        label="Top k",
        min_value=1,
        max_value=largest,
        initial=DEFAULT_TOP_K,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wrong),
    )


def _mode() -> forms.ChoiceField:
    wrong = "The mode is hybrid, semantic or lexical."
    return forms.ChoiceField(
        label="Mode",
        choices=MODES,
        initial="hybrid",
        error_messages={"invalid_choice": wrong, "required": wrong},
    )


def _collection(help_text: str) -> forms.CharField:
    missing = {"required": "Name the collection."}
    widget = forms.TextInput(attrs=_ONE_LINE)
    return forms.CharField(label="Collection", help_text=help_text, widget=widget, error_messages=missing)


class CollectionForm(RecordForm):
    """What a new collection is called."""

    ids = "new_collection"
    name = forms.CharField(
        label="Name",
        max_length=200,
        widget=forms.TextInput(attrs=_ONE_LINE | {"placeholder": "handbook"}),
        error_messages={
            "required": "Give the collection a name.",
            "max_length": "A name has at most 200 characters.",
        },
    )


def _listed(model: str, missing: Mapping[str, str]) -> str:
    return f"{model} (cannot be used here now)" if model in missing else model


class EmbeddingForm(RecordForm):
    """The embedding model that a collection is to have."""

    ids = "embedding"
    places: ClassVar[Mapping[str, str]] = {ANY: "model"}
    model = forms.ChoiceField(
        label="Model",
        widget=ModelSelect,
        error_messages={
            "invalid_choice": "That model cannot be used here; choose another.",
            "required": "Choose a model.",
        },
    )
    server_model = _line(
        "Or a model of the embedding server",
        "By the name that the server knows it by; it counts instead.",
        code=True,
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        missing = {each.asked: why for each in local_models() if (why := why_not(each))}
        model = cast("forms.ChoiceField", self.fields["model"])
        model.choices = [(each.asked, _listed(each.asked, missing)) for each in local_models()]
        cast("ModelSelect", model.widget).unusable = frozenset(missing)
        if not is_configured():
            del self.fields["server_model"]
            missing["server:MODEL"] = NO_SERVER
        model.help_text = " ".join(f"{name} cannot be used here now: {why}" for name, why in missing.items())

    @property
    def chosen_model(self) -> str:
        """The model as it is asked for."""
        said: Mapping[str, Any] = self.cleaned_data
        return f"server:{said['server_model']}" if said.get("server_model") else str(said["model"])


class PassageForm(RecordForm):
    """A passage to be put, written by hand."""

    ids = "passage"
    title = _line("Title")
    uri = _line("URI", "Where it comes from, if it comes from anywhere.", code=True)
    text = _text("Text", 6, "A passage needs a text; write one.")

    @property
    def sent_text(self) -> str:
        """The text as it was written: a browser sends every line break as CR LF, so these are line feeds again."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")


class FilesForm(RecordForm):
    """Files to be put."""

    ids = "files"
    places: ClassVar[Mapping[str, str]] = {ANY: "file"}
    file = forms.FileField(
        label="Files",
        required=False,
        widget=_Files(attrs={"accept": ",".join(ENDINGS), "multiple": True}),
        help_text=(
            "Text, Markdown, HTML and PDF become passages at their headings and paragraphs. A .jsonl file becomes one of each "
            'line: "title", "uri", "text"; its other fields are kept as metadata. One bad line refuses all of it.'
        ),
    )
    uri = _line(
        "URI",
        "Of one file that is not .jsonl; without it, a file's URI is its name, without any folder.",
        code=True,
    )
    replace = forms.BooleanField(
        label="Replace the earlier version",
        required=False,
        help_text="Passages with the file's URI that the file no longer has are ended; their history stays.",
    )


class NewVersionForm(PassageForm):
    """The next version of a frame; a file may bring a text that is too long to edit here."""

    ids = "version"
    text = _text("Text", 12, "A passage needs a text; write one.", required=False)
    file = forms.FileField(
        label="Or a file with the text", required=False, allow_empty_file=True, widget=forms.FileInput()
    )


class FindForm(RecordForm):
    """A find that is tried out: nothing of it is recorded."""

    ids = "find"
    q = forms.CharField(
        label="Query",
        widget=forms.TextInput(attrs={"type": "search"}),
        error_messages={"required": "Write what to look for."},
    )
    mode = _mode()
    top_k = _top_k(MOST_TRIED)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)


class SessionForm(RecordForm):
    """A session that begins."""

    ids = "new_session"
    places: ClassVar[Mapping[str, str]] = {"invalid_key": "key", "key_taken": "key", "name": "new_collection"}
    name = forms.CharField(
        label="Name",
        widget=forms.TextInput(attrs=_ONE_LINE | {"placeholder": "What is it about?"}),
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
    new_collection = _line("Or a new collection", "Its name; it is made with the session.")
    agent = _line("Agent", "Who acts: a program's name, or yours.")
    key = _line(
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


class WorkForm(RecordForm):
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
    text = _text("Question or query", 3, "Write a question, or what to look for.")
    mode = _mode()
    top_k = _top_k(LARGEST_TOP_K)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)
    no_cache = forms.BooleanField(
        label="Ask the model again, even where the answer is in the cache", required=False
    )
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = _line(
        "Or another model", "As provider:model; it counts instead of the one above.", code=True
    )
    collection = _collection("This session has none of its own: say which one to look in.")

    def __init__(
        self,
        data: Any = None,
        *,
        models: Sequence[Choice],
        default: str,
        has_collection: bool,
        **options: Any,
    ) -> None:
        super().__init__(data, **options)
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(models, f"The default: {default}")
        self.default_model = default
        if has_collection:
            del self.fields["collection"]

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
        return any(self[name].errors or self[name].value() not in _AS_USUAL for name in names)

    @property
    def chosen_model(self) -> str:
        """The model to ask; empty for the default."""
        said: Mapping[str, Any] = self.cleaned_data
        return str(said["other_model"] or said["model"])


class WorkPassageForm(PassageForm):
    """A passage that is put and recorded."""

    ids = "work_passage"
    places: ClassVar[Mapping[str, str]] = {"name": "collection"}
    collection = _collection("This session has none of its own: say which one to put it in.")

    def __init__(self, data: Any = None, *, has_collection: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if has_collection:
            del self.fields["collection"]


class WorkFilesForm(FilesForm):
    """Files that are put and recorded."""

    ids = "work_files"
    places: ClassVar[Mapping[str, str]] = {"name": "collection", ANY: "file"}
    collection = _collection("This session has none of its own: say which one to put them in.")

    def __init__(self, data: Any = None, *, has_collection: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if has_collection:
            del self.fields["collection"]


class EraseForm(RecordForm):
    """The name of a session once more, so that nobody erases one by a slip."""

    ids = "erase"
    name = forms.CharField(
        label="Its name, to be sure",
        strip=False,
        widget=forms.TextInput(attrs=_CODE),
        error_messages={"required": "Write the session's name to erase it."},
    )


class ImportForm(RecordForm):
    """Files of other tools."""

    ids = "import"
    places: ClassVar[Mapping[str, str]] = {ANY: "file"}
    file = forms.FileField(
        label="Files",
        required=False,
        widget=_Files(attrs={"multiple": True}),
        help_text="At most 64 MB at once.",
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Recognised from the file"), *((each.name, each.title) for each in FORMATS.values())],
        error_messages={"invalid_choice": "There is no such format; choose one of these."},
    )
