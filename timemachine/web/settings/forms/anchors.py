"""Whom outside a project tells of its log: the form under Settings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from timemachine.evidence.models import TIMESTAMP, WITNESS, Anchor
from timemachine.web.settings.forms.accounts import AccountForm


def _address(label: str, help_text: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, required=False, max_length=500, widget=widget, help_text=help_text)


class AnchorsForm(AccountForm):
    """Two addresses, either of which may be empty."""

    ids = "anchors"
    witness = _address(
        "Witness",
        "An address that takes each new state of the log, as C2SP's tlog-witness describes. Empty: none.",
    )
    timestamp = _address(
        "Timestamp authority", "An address that dates states of the log (RFC 3161). Empty: none."
    )

    @classmethod
    def of(cls, anchors: Mapping[str, Anchor], data: Mapping[str, Any] | None = None) -> "AnchorsForm":
        """The form with the addresses that there are."""
        return cls(
            data, initial={kind: anchors[kind].url for kind in (WITNESS, TIMESTAMP) if kind in anchors}
        )
