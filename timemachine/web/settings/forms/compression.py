"""The form for automatic compression of a project's sessions."""

from timemachine.recording.annotations.significance.compression import MOST_DAYS
from timemachine.recording.annotations.significance.models import CompressionRule
from timemachine.web.number_fields import WholeNumber
from timemachine.web.settings.forms.accounts import AccountForm


class CompressionForm(AccountForm):
    """Set the number of days after the end of a session; empty for never."""

    ids = "compression"
    days = WholeNumber(
        label="Days after the end of a session",
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        help_text="Leave empty to turn off automatic compression.",
    )

    @classmethod
    def of(cls, rule: CompressionRule | None) -> "CompressionForm":
        """Return the form with the current rule."""
        return cls(initial={"days": rule and rule.days})
