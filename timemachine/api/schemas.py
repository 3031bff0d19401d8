"""What programs send: names and types of every field; an unknown field is refused by its name."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from timemachine.core.pure.schemas import Strict


class ShareIn(Strict):
    """A share link to make. Which numbers can be, `governance.sharing.pure.terms` says in a sentence that names them."""

    target_type: Literal["session", "replay", "comparison"]
    target_id: str
    through_sequence: int | None = None
    expires_at: AwareDatetime | None = None
    passphrase: str | None = None
    max_opens: int | None = None
    evidence_only: bool = False
    redaction: str | None = None
    label: str = ""


class SharePolicyIn(Strict):
    """What is to change of what a project allows of its links; `longest_days` null is as long as any link may live."""

    forbidden: bool = False
    passphrase_required: bool = False
    profile_required: bool = False
    longest_days: int | None = None


class RedactionIn(Strict):
    """A redaction profile to make; `text.redaction.pure.rules.read_rules` reads its rules."""

    name: str
    rules: dict[str, Any]


class RedactionChange(Strict):
    """Other rules for a redaction profile."""

    rules: dict[str, Any]


class RedactionTest(Strict):
    """A text, or a step of a session, and the profile (or rules of its own) to look at it with."""

    text: str | None = Field(default=None, max_length=200_000)
    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    redaction: str = "built-in"
    rules: dict[str, Any] | None = None


class AnswerCacheChange(Strict):
    """Whether the answer cache is to be on."""

    on: bool
