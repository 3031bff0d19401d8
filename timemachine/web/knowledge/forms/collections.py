"""The forms of a collection: it is made, embedded, put into and looked in."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms

from timemachine.knowledge.embedding.table import NO_SERVER, local_models, why_not
from timemachine.knowledge.find import LARGEST_TOP_K
from timemachine.llm.embedding_server import is_configured
from timemachine.text.pure.documents.formats import ENDINGS
from timemachine.web.form_parts import (
    ANY,
    ONE_LINE,
    FilesInput,
    RecordForm,
    line_field,
    mode_field,
    text_field,
    top_k_field,
)
from timemachine.web.model_select import ModelSelect
from timemachine.web.option_fields import ThresholdFields


class CollectionForm(RecordForm):
    """What a new collection is called."""

    ids = "new_collection"
    name = forms.CharField(
        label="Name",
        max_length=200,
        widget=forms.TextInput(attrs=ONE_LINE | {"placeholder": "handbook"}),
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
    server_model = line_field(
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
    title = line_field("Title")
    uri = line_field("URI", "Where it comes from, if it comes from anywhere.", code=True)
    text = text_field("Text", 6, "A passage needs a text; write one.")

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
        widget=FilesInput(attrs={"accept": ",".join(ENDINGS), "multiple": True}),
        help_text=(
            "Text, Markdown, HTML and PDF become passages at their headings and paragraphs. A .jsonl file becomes one of each "
            'line: "title", "uri", "text"; its other fields are kept as metadata. One bad line refuses all of it.'
        ),
    )
    uri = line_field(
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
    text = text_field("Text", 12, "A passage needs a text; write one.", required=False)
    file = forms.FileField(
        label="Or a file with the text", required=False, allow_empty_file=True, widget=forms.FileInput()
    )


class FindForm(RecordForm, ThresholdFields):
    """A find that is tried out: nothing of it is recorded."""

    ids = "find"
    q = forms.CharField(
        label="Query",
        widget=forms.TextInput(attrs={"type": "search"}),
        error_messages={"required": "Write what to look for."},
    )
    mode = mode_field()
    top_k = top_k_field(LARGEST_TOP_K)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)
