"""The forms of forgetting: which sessions are meant, why, and how long sessions are kept."""

from typing import Any

from django import forms

from timemachine.evidence.pure.reason import LONGEST
from timemachine.governance.deletion.retention.session_filter import LONGEST_DAYS, Which, which_of
from timemachine.web.form_parts import RecordForm, line_field
from timemachine.web.number_fields import WholeNumber

STAYS = "It stays in the project's log for good, beside who and when: write nothing of what is recorded."
STATUSES = [("", "any"), ("ended", "ended"), ("recording", "recording")]


class WhichForm(RecordForm):
    """Which sessions are meant together; all that is given holds."""

    ids = "which"
    agent = line_field("Agent")
    user = line_field("User")
    tag = line_field("Tag")
    status = forms.ChoiceField(label="Status", choices=STATUSES, required=False)
    older_than_days = WholeNumber(
        label="Older than, in days",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="Nothing was recorded in them for so long.",
    )
    named = line_field("In name or key")
    q = line_field("In what was said")

    def which(self) -> Which:
        """The filter. Raises `InvalidInput` where it asks for nothing."""
        return which_of(self.cleaned_data)


class ReasonForm(RecordForm):
    """Why something is deleted, held or released."""

    ids = "reason"
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        help_text=STAYS,
        error_messages={"required": "Give a reason; it stays in the project's log."},
    )


class RuleForm(RecordForm):
    """How long sessions are kept."""

    ids = "rule"
    agent = line_field("Agent", "Empty for any.")
    tag = line_field("Tag", "Empty for any. Without agent and tag it is the rule for all others.")
    days = WholeNumber(
        label="Deleted after, in days",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="Counted from the last that was recorded. Empty: kept for good.",
    )
    reason = line_field("Reason", "Needed for fewer than 183 days. " + STAYS)

    def values(self) -> dict[str, Any]:
        """What was written."""
        return {name: self.cleaned_data[name] for name in ("agent", "tag", "days", "reason")}
