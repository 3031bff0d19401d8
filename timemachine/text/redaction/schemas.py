"""Redaction profiles, and what they withhold, as the API takes and returns them."""

from pydantic import Field

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.values import Tally


class ProfileVersion(Schema):
    """A version of a redaction profile."""

    name: str
    version: int


class RuleCount(Schema):
    """How often a rule matched a kind of finding."""

    rule: str
    what: str
    count: int


def counts_of(tally: Tally) -> list[RuleCount]:
    """Return the matches of each rule, most frequent first."""
    return [
        RuleCount.model_construct(rule=rule, what=what, count=number)
        for (rule, what), number in sorted(tally.items(), key=lambda each: (-each[1], each[0]))
    ]


class RedactionIn(Strict):
    """A redaction profile to create; `text.redaction.pure.rules.read_rules` reads its rules."""

    name: str
    rules: JsonObject


class RedactionChange(Strict):
    """New rules for a redaction profile."""

    rules: JsonObject


class RedactionTest(Strict):
    """A text or a step of a session, and the profile, or rules, to test on it."""

    text: str | None = Field(default=None, max_length=200_000)
    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    redaction: str = "built-in"
    rules: JsonObject | None = None


class RedactionPattern(Schema):
    """A pattern in RE2 syntax; the mark of what it withholds shows its name."""

    name: str
    pattern: str
    ignore_case: bool


class RedactionRules(Schema):
    """What a profile withholds: by detector, by pattern, and the fields by their paths."""

    detect: list[str]
    phone_regions: list[str]
    patterns: list[RedactionPattern]
    fields: list[str]


class RedactionOut(Schema):
    """One version of a redaction profile. The built-in profile has no author and no times."""

    id: str
    name: str
    version: int
    built_in: bool
    rules: RedactionRules
    created_by: str | None
    created_at: str | None
    retired_by: str | None
    retired_at: str | None

    @classmethod
    def of(cls, row: RedactionProfile) -> "RedactionOut":
        """Return a version of a project's own profile."""
        return cls.from_attributes(row, built_in=False, rules=_rules(row.rules))

    @classmethod
    def built_in_profile(cls) -> "RedactionOut":
        """Return the profile that every project has."""
        return cls.from_attributes(
            BUILT_IN,
            id=BUILT_IN_HANDLE,
            built_in=True,
            created_by=None,
            created_at=None,
            retired_by=None,
            retired_at=None,
        )


class RedactionPage(Page[RedactionOut]):
    """The built-in profile, then the newest version of each profile of the project, by name."""


class FindingOut(Schema):
    """What a rule withholds of a text: characters `start` to before `end`."""

    start: int
    end: int
    rule: str
    what: str


class RedactedText(Schema):
    """A text with marks in place of what is withheld."""

    text: str
    findings: list[FindingOut]
    counts: list[RuleCount]


class RedactedStep(Schema):
    """A step with marks in place of what is withheld, and the fields that were changed."""

    action: JsonObject
    touched: list[str]
    counts: list[RuleCount]


def _rules(rules: JsonObject) -> RedactionRules:
    patterns = [RedactionPattern.model_construct(**each) for each in rules["patterns"]]
    return RedactionRules.model_construct(**(rules | {"patterns": patterns}))
