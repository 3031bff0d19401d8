"""The reason that a project's log keeps for good: it may not hold what is erased for it. Pure."""

from typing import Any, ClassVar, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.redaction.pure.builtin import RULES
from timemachine.text.redaction.pure.findings import Finding
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import findings_in

LONGEST: Final = 1_000


class ReasonTells(InvalidInput):
    """The reason would keep for good what it is to say is gone; which kind of thing that is, and never the thing."""

    default_code: ClassVar[str] = "reason_tells"


def checked_reason(said: str, *others: Rules) -> str:
    """The reason without blanks around it; empty where there is none.

    Raises `InvalidInput` for more than `LONGEST` characters, `ReasonTells` where the built-in profile or one of the other rules finds
    something in it. Rules that lead to fields by their paths find nothing in a text.
    """
    reason = said.strip()
    if len(reason) > LONGEST:
        raise InvalidInput(
            f"A reason has at most {LONGEST:,} characters; shorten it.", code="invalid_field", field="reason"
        )
    found = [each for rules in (RULES, *others) for each in findings_in(reason, rules)]
    if found:
        raise tells(*dict.fromkeys(map(_kind, found)))
    return reason


def tells(*kinds: str) -> ReasonTells:
    """That a reason holds things of these kinds."""
    facts: dict[str, Any] = {"field": "reason", "holds": list(kinds)}
    return ReasonTells(
        f"This reason holds what must not stay: {', '.join(kinds)}. It is kept in the project's log for good, so say why in other words.",
        **facts,
    )


def _kind(found: Finding) -> str:
    return found.rule if found.what == found.rule else f"{found.rule} ({found.what})"
