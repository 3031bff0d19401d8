"""Forms of the models page: a project's provider keys and servers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from timemachine.llm.commands import LONGEST_KEY
from timemachine.llm.pure.catalogue import LONGEST_NAME
from timemachine.llm.pure.listing import Listed
from timemachine.web.form_parts import RecordForm


def _secret(label: str, *, required: bool, help_text: str) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "off"})
    return forms.CharField(
        label=label, required=required, max_length=LONGEST_KEY, widget=widget, help_text=help_text
    )


def _model(placeholder: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "placeholder": placeholder, "class": "mono"})
    return forms.CharField(
        label="Default model (optional)", required=False, max_length=LONGEST_NAME, widget=widget
    )


class ProviderKeyForm(RecordForm):
    """Set the key for a built-in provider; it is never shown again."""

    places: ClassVar[Mapping[str, str]] = {"api_key": "key"}
    key = _secret("Key", required=True, help_text="Stored encrypted and never shown again.")
    default_model = _model("")

    def __init__(self, listed: Listed, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.listed = listed
        self.auto_id = f"key_{listed.provider}_%s"
        self.fields["key"].label = f"Key for {listed.label}"
        model = self.fields["default_model"]
        model.initial = listed.own_key.default_model if listed.own_key else None
        model.widget.attrs["placeholder"] = listed.model.model if listed.model else ""
        model.help_text = f"The model used for “{listed.provider}” when no model is named. Leave empty for the server's default."


class ServerForm(RecordForm):
    """Add an OpenAI-compatible server."""

    ids = "server"
    places: ClassVar[Mapping[str, str]] = {
        "api_key": "key",
        "bad_server_name": "name",
        "name_taken": "name",
        "bad_address": "base_url",
        "address_not_allowed": "base_url",
    }
    name = forms.CharField(
        label="Name",
        max_length=200,
        help_text="The part before the colon: the models of a server named house are written house:MODEL.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "class": "mono"}),
    )
    base_url = forms.CharField(
        label="Address",
        max_length=1000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "https://models.example.com/v1"}),
    )
    key = _secret("Key (optional)", required=False, help_text="Stored encrypted and never shown again.")
    default_model = _model("")
