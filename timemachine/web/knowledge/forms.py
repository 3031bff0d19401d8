"""Forms of collections: create, embed, add passages and files, search."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms

from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.embedding.table import NO_SERVER, local_models, unavailable_reason
from timemachine.knowledge.find import LARGEST_TOP_K
from timemachine.llm.embedding_server import is_configured
from timemachine.text.pure.documents.formats import ENDINGS
from timemachine.web import form_parts as parts
from timemachine.web.option_fields import ThresholdFields


class CollectionForm(parts.RecordForm):
    """Create a collection."""

    ids = "new_collection"
    places: ClassVar[Mapping[str, str]] = {parts.ANY: "name"}
    name = forms.CharField(
        label="Name",
        max_length=200,
        widget=forms.TextInput(attrs=parts.ONE_LINE | {"placeholder": "handbook"}),
        error_messages={
            "required": "Enter a name for the collection.",
            "max_length": "The name can have at most 200 characters.",
        },
    )


class _EmbeddingSelect(forms.Select):
    """A select for embedding models; unavailable models are disabled."""

    unusable: frozenset[str] = frozenset()

    def create_option(self, name: str, value: Any, *args: Any, **more: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **more)
        if str(value) in self.unusable:
            option["attrs"]["disabled"] = True
        return option


class EmbeddingForm(parts.RecordForm):
    """Choose the embedding model of a collection."""

    ids = "embedding"
    places: ClassVar[Mapping[str, str]] = {parts.ANY: "model"}
    model = forms.ChoiceField(
        label="Model",
        widget=_EmbeddingSelect,
        error_messages={
            "invalid_choice": "This model is not available. Choose another one.",
            "required": "Choose a model.",
        },
    )
    server_model = parts.line_field(
        "Or a model on the embedding server",
        "The server's name for it. Overrides the choice above.",
        code=True,
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        missing = {each.short_name: why for each in local_models() if (why := unavailable_reason(each))}
        model = cast("forms.ChoiceField", self.fields["model"])
        names = [each.short_name for each in local_models()]
        model.choices = [(name, f"{name} (not available)" if name in missing else name) for name in names]
        cast("_EmbeddingSelect", model.widget).unusable = frozenset(missing)
        if not is_configured():
            del self.fields["server_model"]
            missing["server:MODEL"] = NO_SERVER
        model.help_text = " ".join(f"{name} is not available: {why}" for name, why in missing.items())

    @property
    def chosen_model(self) -> str:
        data: Mapping[str, Any] = self.cleaned_data
        return f"server:{data['server_model']}" if data.get("server_model") else str(data["model"])


class PassageForm(parts.RecordForm):
    """Add a passage."""

    ids = "passage"
    title = parts.line_field("Title")
    uri = parts.line_field("URI", "Its source, if any.", code=True)
    text = parts.text_field("Text", 6, "Enter the text of the passage.")

    @property
    def sent_text(self) -> str:
        """Return the text with LF line ends; browsers send CR LF."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")

    @property
    def frame(self) -> NewFrame:
        data = self.cleaned_data
        return NewFrame(text=self.sent_text, title=data["title"], uri=data["uri"])


class FilesForm(parts.RecordForm):
    """Upload files."""

    ids = "files"
    places: ClassVar[Mapping[str, str]] = {parts.ANY: "file"}
    file = forms.FileField(
        label="Files",
        required=False,
        widget=parts.FilesInput(attrs={"accept": ",".join(ENDINGS), "multiple": True}),
        help_text=(
            "Text, Markdown, HTML and PDF files are split into passages at headings and paragraphs. A .jsonl file has one passage per "
            'line: "title", "uri", "text"; other fields become metadata. One invalid line rejects the whole file.'
        ),
    )
    uri = parts.line_field(
        "URI",
        "For a single file other than .jsonl. By default, the URI is the file name without folders.",
        code=True,
    )
    replace = forms.BooleanField(
        label="Replace the earlier version",
        required=False,
        help_text="Ends passages with the file's URI that the new file does not have. Their history stays.",
    )


class NewVersionForm(PassageForm):
    """Add a version of a frame; a file can contain a text that is too long to edit here."""

    ids = "version"
    text = parts.text_field("Text", 12, "Enter the text of the passage.", required=False)
    file = forms.FileField(
        label="Or upload the text as a file", required=False, allow_empty_file=True, widget=forms.FileInput()
    )


class FindForm(parts.RecordForm, ThresholdFields):
    """Try a search, without recording it."""

    ids = "find"
    places: ClassVar[Mapping[str, str]] = {parts.ANY: "q"}
    q = forms.CharField(
        label="Query",
        widget=forms.TextInput(attrs={"type": "search"}),
        error_messages={"required": "Enter a search query."},
    )
    mode = parts.mode_field()
    top_k = parts.top_k_field(LARGEST_TOP_K)
    adaptive = forms.BooleanField(label="Adaptive cut-off", required=False)
