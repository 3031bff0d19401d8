"""The form under Settings that says when a project's sessions are compressed."""

from timemachine.recording.annotations.significance.compression import MOST_DAYS
from timemachine.recording.annotations.significance.models import CompressionRule
from timemachine.web.number_fields import WholeNumber
from timemachine.web.settings.forms.accounts import AccountForm


class CompressionForm(AccountForm):
    """So many days after the end of a session; empty for never."""

    ids = "compression"
    days = WholeNumber(
        label="Days after the end of a session",
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        help_text="Empty: no session is compressed by itself.",
    )

    @classmethod
    def of(cls, rule: CompressionRule | None) -> "CompressionForm":
        """The form with the rule that holds."""
        return cls(initial={"days": rule and rule.days})
