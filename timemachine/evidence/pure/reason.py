"""The reason that a project's log stores permanently: it must not contain what is erased. Pure."""

from typing import ClassVar, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import findings_in

LONGEST: Final = 1_000


class SensitiveReason(InvalidInput):
    """The reason contains something that must not be stored. The error names only the kind of it."""

    default_code: ClassVar[str] = "reason_tells"


def checked_reason(text: str, *others: Rules) -> str:
    """Return the reason, stripped; empty without a reason.

    Raises `InvalidInput` for more than `LONGEST` characters, and `SensitiveReason` if the built-in profile or
    one of the other rules finds something in it. Rules for fields by path find nothing in a text.
    """
    reason = text.strip()
    if len(reason) > LONGEST:
        raise InvalidInput(
            f"The reason can have at most {LONGEST:,} characters.", code="invalid_field", field="reason"
        )
    found = [each for rules in (RULES, *others) for each in findings_in(reason, rules)]
    if found:
        raise sensitive_reason(
            *dict.fromkeys(
                each.rule if each.what == each.rule else f"{each.rule} ({each.what})" for each in found
            )
        )
    return reason


def sensitive_reason(*kinds: str) -> SensitiveReason:
    """Return the error for a reason with these kinds of content."""
    return SensitiveReason(
        f"The reason contains {', '.join(kinds)}, which must not be stored. A reason stays in the project's log permanently; use other words.",
        field="reason",
        holds=list(kinds),
    )
