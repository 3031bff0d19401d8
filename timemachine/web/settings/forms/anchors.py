"""The form for the witness and the timestamp authority of the project's log."""

from collections.abc import Mapping
from typing import Any

from django import forms

from timemachine.evidence.models import TIMESTAMP, WITNESS, Anchor
from timemachine.web.settings.forms.accounts import AccountForm


def _address(label: str, help_text: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, required=False, max_length=500, widget=widget, help_text=help_text)


class AnchorsForm(AccountForm):
    """Set the two URLs; both are optional."""

    ids = "anchors"
    witness = _address(
        "Witness",
        "URL that receives each new state of the log (C2SP tlog-witness). Leave empty for none.",
    )
    timestamp = _address(
        "Timestamp authority", "URL that timestamps states of the log (RFC 3161). Leave empty for none."
    )

    @classmethod
    def of(cls, anchors: Mapping[str, Anchor], data: Mapping[str, Any] | None = None) -> "AnchorsForm":
        """Return the form with the current URLs."""
        return cls(
            data, initial={kind: anchors[kind].url for kind in (WITNESS, TIMESTAMP) if kind in anchors}
        )
