"""The form of an alert rule: how many sessions within which window, and who is notified."""

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.memory.patterns.models import FEWEST_SESSIONS, MOST_SESSIONS, WINDOWS
from timemachine.web.number_fields import WholeNumber
from timemachine.web.settings.forms.accounts import AccountForm

KIND_CHOICES = [("", "Errors and questions"), ("error", "Errors"), ("question", "Questions")]
WINDOW_CHOICES = [(each, f"one {each}") for each in WINDOWS]


class RuleForm(AccountForm):
    """Create an alert rule, with the limits of the API. Only administrators can set an address."""

    ids = "rule"
    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)
    kind = forms.ChoiceField(label="What", choices=KIND_CHOICES, required=False, initial="error")
    sessions = WholeNumber(
        label="Minimum number of sessions", min_value=FEWEST_SESSIONS, max_value=MOST_SESSIONS, initial=3
    )
    window = forms.ChoiceField(label="Within", choices=WINDOW_CHOICES, initial="week")
    url = forms.CharField(
        label="Webhook URL",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="Receives the pattern's URL and counts, but no recorded content. Leave empty for none.",
    )

    def without_address(self) -> "RuleForm":
        """Return the form without the webhook field."""
        del self.fields["url"]
        return self

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field, or above the form; return the HTTP status."""
        field = why.facts.get("field")
        named = "url" if why.code in {"bad_address", "address_not_allowed"} else field
        self.add_error(named if named in self.fields else None, why.message)
        return why.status
