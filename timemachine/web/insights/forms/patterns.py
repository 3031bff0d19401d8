"""The form of a rule: from how many sessions of which window on a pattern is worth telling, and to whom."""

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.memory.patterns.models import FEWEST_SESSIONS, MOST_SESSIONS, WINDOWS
from timemachine.web.number_fields import WholeNumber
from timemachine.web.settings.forms.accounts import AccountForm

KIND_CHOICES = [("", "Errors and questions"), ("error", "Errors"), ("question", "Questions")]
WINDOW_CHOICES = [(each, f"one {each}") for each in WINDOWS]


class RuleForm(AccountForm):
    """A rule; the same limits as the API's. Whoever does not administer the project names no address."""

    ids = "rule"
    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)
    kind = forms.ChoiceField(label="What", choices=KIND_CHOICES, required=False, initial="error")
    sessions = WholeNumber(
        label="Again in so many sessions", min_value=FEWEST_SESSIONS, max_value=MOST_SESSIONS, initial=3
    )
    window = forms.ChoiceField(label="Within", choices=WINDOW_CHOICES, initial="week")
    url = forms.CharField(
        label="Also tell this address",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="It is sent the pattern's address and figures, and nothing that was recorded. Empty: nobody.",
    )

    def without_address(self) -> "RuleForm":
        """The form for who may not name an address."""
        del self.fields["url"]
        return self

    def refuse(self, why: TimeMachineError) -> int:
        """Say at its field, or above the form, why it cannot be; the status of the page."""
        field = why.facts.get("field")
        named = "url" if why.code in {"bad_address", "address_not_allowed"} else field
        self.add_error(named if named in self.fields else None, why.message)
        return why.status
