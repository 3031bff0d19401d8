"""How much steps matter, and compression, as the API takes and returns them."""

from typing import Annotated

from pydantic import Field, StrictBool

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.recording.annotations.significance.compression import MOST_DAYS
from timemachine.recording.annotations.significance.models import CompressionRule as StoredRule
from timemachine.recording.annotations.significance.models import Rule, SignificanceChange
from timemachine.recording.sessions.pure.vocabulary import Significance


class SignificanceIn(Strict):
    """The new significance and importance of a step; null restores what was recorded, and what is not sent stays."""

    significance: Significance | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None


class SignificanceChangeOut(Schema):
    """A change of a step's significance or importance; null restored what was recorded. `proposal` is the rule that suggested it."""

    id: str
    sequence: int
    significance: Significance | None
    importance: float | None
    proposal: Rule | None
    by: str
    at: str

    @classmethod
    def of(cls, change: SignificanceChange) -> "SignificanceChangeOut":
        return cls.from_attributes(change, proposal=change.rule)


class SignificanceChanges(Page[SignificanceChangeOut]):
    """Changes of steps of a session, the latest first."""


class CompressOlderIn(Strict):
    """The sessions that ended this many days ago or more; with `preview` they are only counted."""

    older_than_days: int = Field(ge=1, le=MOST_DAYS)
    preview: StrictBool = False


class CompressedOut(Schema):
    """How many sessions were compressed, or would be where `compressed` is false."""

    sessions: int
    compressed: bool


class CompressionRuleIn(Strict):
    """How many days after their end sessions are compressed automatically; null for never."""

    days: int | None = Field(ge=1, le=MOST_DAYS)


class CompressionRuleOut(Schema):
    """How many days after their end sessions are compressed automatically, null for never, and who set that."""

    days: int | None
    by: str | None
    at: str | None

    @classmethod
    def of(cls, rule: StoredRule | None) -> "CompressionRuleOut":
        """Return the rule; all fields are null without one."""
        if rule is None:
            return cls.model_construct(days=None, by=None, at=None)
        return cls.from_attributes(rule)


class CompressionChangeOut(Schema):
    """That a session was compressed or that this was undone, by whom (`by_rule`: by whose rule) and when."""

    compressed: bool
    by: str
    by_rule: bool
    at: str
