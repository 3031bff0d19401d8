"""Forms of deletion and retention: which sessions, why, and how long sessions are kept."""

from django import forms

from timemachine.evidence.pure.reason import LONGEST
from timemachine.governance.deletion.retention.session_filter import (
    LONGEST_DAYS,
    SessionSelection,
    read_filter,
)
from timemachine.web.form_parts import RecordForm, WholeNumber, line_field

STAYS = "Stored permanently in the project's log. Do not quote recorded content."
STATUSES = [("", "any"), ("ended", "ended"), ("recording", "recording")]


def reason_field(help_text: str) -> forms.CharField:
    """Return a field for the reason of a deletion or a hold."""
    return forms.CharField(
        label="Reason",
        max_length=LONGEST,
        help_text=help_text,
        error_messages={"required": "Enter a reason. It is stored in the project's log."},
    )


class WhichForm(RecordForm):
    """Choose sessions; all filters must match."""

    ids = "which"
    agent = line_field("Agent")
    user = line_field("User")
    tag = line_field("Tag")
    status = forms.ChoiceField(label="Status", choices=STATUSES, required=False)
    older_than_days = WholeNumber(
        label="Older than (days)",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="No steps were recorded for this long.",
    )
    named = line_field("Name or key contains")
    q = line_field("Content contains")

    def which(self) -> SessionSelection:
        """Return the filter. Raises `InvalidInput` if it is empty."""
        return read_filter(self.cleaned_data)


class ReasonForm(RecordForm):
    """The reason for a deletion, a hold or a release."""

    ids = "reason"
    reason = reason_field(STAYS)


class RuleForm(RecordForm):
    """Set how long sessions are kept."""

    ids = "rule"
    agent = line_field("Agent", "Leave empty for any.")
    tag = line_field(
        "Tag", "Leave empty for any. Without agent and tag, the rule applies to all other sessions."
    )
    days = WholeNumber(
        label="Delete after (days)",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="Counted from the last recorded step. Leave empty to keep permanently.",
    )
    reason = line_field("Reason", "Required below 183 days. " + STAYS)
