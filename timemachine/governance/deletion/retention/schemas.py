"""Bulk deletions, legal holds and retention rules as the API takes and returns them."""

from typing import Any, Final, Literal, Self

from pydantic import Field, StrictBool

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.governance.deletion.retention import models
from timemachine.governance.deletion.retention.queries import Outcome, SessionCounts
from timemachine.governance.deletion.retention.retention import FLOOR_DAYS, Preview, describe, is_early
from timemachine.governance.deletion.retention.session_filter import Days, SessionSelection
from timemachine.recording.sessions.models import HeldSession, Hold, Session

DeletionStatus = Literal["found", "running", "done", "cancelled"]
DeletionState = Literal["waiting", "erased", "held", "changed", "gone", "failed"]


class SelectionOut(Schema):
    """Which sessions were meant; filters that were not given are absent."""

    q: str | None = None
    named: str | None = None
    agent: str | None = None
    user: str | None = None
    status: str | None = None
    tag: str | None = None
    tool: str | None = None
    kind: str | None = None
    model: str | None = None
    since: str | None = None
    until: str | None = None
    min_cost: float | None = None
    older_than_days: int | None = None


class DeletionIn(Strict):
    """Which sessions are to be deleted."""

    filter: SessionSelection


class DeletionConfirmation(Strict):
    """Why the sessions are deleted."""

    reason: str = ""


class StateCounts(Schema):
    """How many sessions of a bulk deletion are in each state; states without sessions are absent."""

    waiting: int | None = None
    erased: int | None = None
    held: int | None = None
    changed: int | None = None  # they no longer match the filter, and stay
    gone: int | None = None  # someone else deleted them
    failed: int | None = None


class DeletionOut(Schema):
    """A bulk deletion: the sessions that it found, and what happened to them.

    `held` sessions are under legal hold and stay. `every` is whether it found all sessions of the project, null if that was not
    looked up. A summary of each of the `summarised` sessions stays in a collection.
    """

    id: str
    filter: SelectionOut
    rule: str | None  # the retention rule that deletes, if one does
    status: DeletionStatus
    sessions: int
    turns: int
    held: int
    every: bool | None
    summarised: int
    states: StateCounts
    deleted_turns: int
    reason: str | None
    requested_by: str
    requested_at: str
    confirmed_by: str | None
    confirmed_at: str | None
    finished_at: str | None

    @classmethod
    def of(
        cls,
        found: models.BulkDeletion,
        outcome: Outcome,
        held: int | None = None,
        *,
        every: bool | None = None,
    ) -> "DeletionOut":
        """The deletion; `held` is how many sessions are under hold now, by default how many stayed because of one."""
        return cls.from_attributes(
            found,
            filter=SelectionOut.model_construct(**found.wanted),
            rule=found.rule_id,
            sessions=outcome.sessions,
            turns=outcome.turns,
            held=outcome.states.get("held", 0) if held is None else held,
            every=every,
            summarised=outcome.summarised,
            states=StateCounts(**outcome.states),
            deleted_turns=outcome.deleted_turns,
        )


class DeletionPage(Page[DeletionOut]):
    """Bulk deletions, newest first."""


class DeletionSession(Schema):
    """A session of a bulk deletion; `key` and `name` are null once it is deleted."""

    session: str
    key: str | None
    name: str | None
    turns: int
    summarised: bool
    state: DeletionState
    problem: str | None

    @classmethod
    def of(cls, row: models.BulkDeletionSession, session: Session | None) -> "DeletionSession":
        """The session, None where it is deleted."""
        return cls.from_attributes(row, key=session and session.key, name=session and session.name)


class DeletionSessions(Page[DeletionSession]):
    """The sessions of a bulk deletion."""


class HoldIn(Strict):
    """A hold to place: sessions by ids or keys, or a filter, and the reason. With `dry_run` they are only counted."""

    reason: str = ""
    sessions: list[str] = Field(default_factory=list, max_length=1_000)
    filter: SessionSelection | None = None
    dry_run: StrictBool = False


class ReleaseIn(Strict):
    """Why sessions are released: all of the hold, or these."""

    reason: str = ""
    sessions: list[str] = Field(default_factory=list, max_length=1_000)


class HoldOut(Schema):
    """A legal hold: `sessions` were placed under it, `held_still` are still under it; null if they were not counted."""

    id: str
    filter: SelectionOut | None
    reason: str
    placed_by: str
    placed_at: str
    sessions: int | None
    held_still: int | None
    released_by: str | None
    released_at: str | None
    release_reason: str | None

    @classmethod
    def of(cls, hold: Hold, **more: Any) -> Self:
        """The hold as `holds_of` reads it, with the fields that a subclass has besides."""
        return cls.from_attributes(
            hold,
            filter=None if hold.wanted is None else SelectionOut.model_construct(**hold.wanted),
            sessions=getattr(hold, "number", None),
            held_still=getattr(hold, "open", None),
            **more,
        )


class HoldPage(Page[HoldOut]):
    """Legal holds, newest first."""


class SessionHeld(Schema):
    """A session of a hold; `key` and `name` are null once it was deleted after its release."""

    session: str
    key: str | None
    name: str | None
    released_at: str | None

    @classmethod
    def of(cls, row: HeldSession, session: Session | None) -> "SessionHeld":
        """The session, None where it is deleted."""
        return cls.from_attributes(
            row, session=row.session_id, key=session and session.key, name=session and session.name
        )


class HoldDetails(HoldOut):
    """A legal hold with its first 100 sessions."""

    first: list[SessionHeld]


class HoldPreview(SessionCounts):
    """What a hold would cover; `filter` is null if the sessions were named."""

    filter: SelectionOut | None


class RetentionRuleIn(Strict):
    """How long the sessions of an agent, with a tag, both, or all others are kept: `days`, null to keep them permanently. With `dry_run` nothing is set."""

    agent: str = ""
    tag: str = ""
    days: Days | None = None
    reason: str = ""
    dry_run: StrictBool = False


class RetentionRuleOut(Schema):
    """A retention rule, also in words (`says`); `days` null keeps sessions permanently. `early` is whether `days` is below the floor.

    `due` is what the rule would delete now, null if that was not counted.
    """

    id: str
    agent: str
    tag: str
    days: int | None
    says: str
    early: bool
    reason: str
    set_by: str
    set_at: str
    ran_at: str | None
    due: SessionCounts | None

    @classmethod
    def of(cls, rule: models.RetentionRule, due: SessionCounts | None = None) -> "RetentionRuleOut":
        """The rule."""
        return cls.from_attributes(rule, says=describe(rule), early=is_early(rule.days), due=due)


class RetentionFloor(Schema):
    """Below how many days a rule needs a reason, and why."""

    days: int
    because: str


FLOOR: Final = RetentionFloor.model_construct(
    days=FLOOR_DAYS,
    because="EU AI Act, Articles 19 and 26(6): logs of high-risk AI systems are kept at least six months.",
)


class RetentionRules(Schema):
    """The rules of a project, the most specific first."""

    items: list[RetentionRuleOut]
    floor: RetentionFloor


class RetentionPreview(Schema):
    """What a rule would delete now, when the `first` session that is not held is old enough, and the rule that it replaces."""

    due: SessionCounts
    first: str | None
    replaces: RetentionRuleOut | None
    floor: RetentionFloor

    @classmethod
    def of(cls, found: Preview) -> "RetentionPreview":
        """The preview."""
        replaces = None if found.replaced is None else RetentionRuleOut.of(found.replaced)
        return cls.from_attributes(found, replaces=replaces, floor=FLOOR)
