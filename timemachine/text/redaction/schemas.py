"""Redaction profiles, and what they withhold, as the API returns them."""

from timemachine.core.pure.schemas import Schema
from timemachine.text.redaction.pure.values import Tally


class ProfileVersion(Schema):
    """A version of a redaction profile."""

    name: str
    version: int


class RuleCount(Schema):
    """How often a rule matched what."""

    rule: str
    what: str
    count: int


def counts_of(tally: Tally) -> list[RuleCount]:
    """The matches of each rule, the most frequent first."""
    return [
        RuleCount.model_construct(rule=rule, what=what, count=number)
        for (rule, what), number in sorted(tally.items(), key=lambda each: (-each[1], each[0]))
    ]
