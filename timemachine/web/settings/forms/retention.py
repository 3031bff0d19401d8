"""Forms of deletion and retention: which sessions, why, and how long sessions are kept."""

from typing import Any

from django import forms

from timemachine.evidence.pure.reason import LONGEST
from timemachine.governance.deletion.retention.session_filter import (
    LONGEST_DAYS,
    SessionSelection,
    read_filter,
)
from timemachine.web.form_parts import RecordForm, line_field
from timemachine.web.number_fields import WholeNumber

STAYS = "Stored permanently in the project's log. Do not quote recorded content."
STATUSES = [("", "any"), ("ended", "ended"), ("recording", "recording")]


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
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        help_text=STAYS,
        error_messages={"required": "Enter a reason. It is stored in the project's log."},
    )


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

    def values(self) -> dict[str, Any]:
        """Return the entered values."""
        return {name: self.cleaned_data[name] for name in ("agent", "tag", "days", "reason")}
