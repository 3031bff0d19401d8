"""The form of an alert rule: how many sessions within which window, and who is notified."""

from collections.abc import Mapping
from typing import ClassVar

from django import forms

from timemachine.memory.patterns.models import FEWEST_SESSIONS, MOST_SESSIONS, WINDOWS
from timemachine.web.form_parts import SentOnce, WholeNumber, url_field

KIND_CHOICES = [("", "Errors and questions"), ("error", "Errors"), ("question", "Questions")]
WINDOW_CHOICES = [(each, f"one {each}") for each in WINDOWS]


class RuleForm(SentOnce):
    """Create an alert rule, with the limits of the API. Only administrators can set an address."""

    ids = "rule"
    places: ClassVar[Mapping[str, str]] = {"bad_address": "url", "address_not_allowed": "url"}
    kind = forms.ChoiceField(label="What", choices=KIND_CHOICES, required=False, initial="error")
    sessions = WholeNumber(
        label="Minimum number of sessions", min_value=FEWEST_SESSIONS, max_value=MOST_SESSIONS, initial=3
    )
    window = forms.ChoiceField(label="Within", choices=WINDOW_CHOICES, initial="week")
    url = url_field(
        "Webhook URL",
        "Receives the pattern's URL and counts, but no recorded content. Leave empty for none.",
    )

    def without_address(self) -> "RuleForm":
        del self.fields["url"]
        return self
