"""Patterns, what solved them, and the rules that watch for them, as the API takes and returns them."""

from typing import Any, Final, Literal, Self

from pydantic import Field

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.memory.patterns import models
from timemachine.memory.patterns.models import CHANGED_CALL, FEWEST_SESSIONS, MOST_SESSIONS, SAME_CALL
from timemachine.memory.patterns.pure.step_texts import Kind
from timemachine.memory.patterns.pure.trend import Trend
from timemachine.memory.patterns.queries import InSession, Resolution
from timemachine.memory.patterns.reader import LONGEST
from timemachine.memory.patterns.similar import Similar
from timemachine.recording.sessions.models import Session

_SHOWN_NAMES: Final = 5

Window = Literal["day", "week", "month"]
SolvedHow = Literal["significant", "same_call", "changed_call"]


class PatternsIn(Strict):
    """Which patterns are listed; an empty text matches any, and a pattern must match all filters.

    `since` is about when it was last seen: RFC 3339, or a date for the whole day. `similar_to` and `text` go with `kind` only, and are not empty.
    """

    kind: Literal[Kind, ""] = ""
    q: str = ""
    since: str = ""
    solved: Literal["yes", "no", ""] = ""
    min_sessions: int = Field(default=FEWEST_SESSIONS, ge=1, lt=2**31)
    similar_to: str = ""
    text: str = Field(default="", max_length=LONGEST)
    limit: int = 50
    after: str | None = None


class SessionNamed(Schema):
    """A session as a pattern names it."""

    id: str
    key: str
    name: str
    agent: str | None
    started_at: str | None

    @classmethod
    def of(cls, session: Session) -> "SessionNamed":
        """The session."""
        return cls.from_attributes(session, started_at=session.began_at)


class TrendOut(Schema):
    """How many steps had the pattern per day or per week (from Monday, in UTC), from `begins` on; `before` is how many had it earlier."""

    unit: Literal["day", "week"]
    begins: str
    counts: list[int]
    before: int


class ResolutionOut(Schema):
    """The step that solved a pattern in one session, by which rule, and the same in words (`says`).

    `sequence` is the step with the pattern, `changed` names the arguments that differ between its call and the one that went through.
    """

    session: SessionNamed
    sequence: int
    solved_by: int
    how: SolvedHow
    changed: list[str]
    label: str
    says: str
    address: str

    @classmethod
    def of(cls, found: Resolution | None) -> "ResolutionOut | None":
        """The step, if the session has one."""
        if found is None:
            return None
        return cls.from_attributes(
            found,
            session=SessionNamed.of(found.session),
            says=resolution_words(found),
            address=f"/sessions/{found.session.id}/?step={found.solved_by}",
        )


class PatternOut(Schema):
    """An error or a question of several sessions. `resolution` is what solved it last, null if no step shows that.

    `undated_steps` were imported without a time: they are in no trend and no alert, and `first_seen` and `last_seen` are null if all steps were.
    """

    id: str
    kind: Kind
    text: str
    sessions: int
    steps: int
    undated_steps: int
    solved_sessions: int
    first_seen: str | None
    last_seen: str | None
    trend: TrendOut | None
    resolution: ResolutionOut | None
    address: str

    @classmethod
    def of(
        cls, pattern: models.Wording, trend: Trend | None, resolution: Resolution | None, **more: Any
    ) -> Self:
        """The pattern, with the fields that a subclass has besides."""
        return cls.from_attributes(
            pattern,
            undated_steps=pattern.undated,
            solved_sessions=pattern.solved,
            first_seen=pattern.first_at,
            last_seen=pattern.last_at,
            trend=trend,
            resolution=ResolutionOut.of(resolution),
            address=f"/patterns/{pattern.id}/",
            **more,
        )


class PatternPage(Page[PatternOut]):
    """Patterns, the one that was seen last first. `not_read` is how many steps of the project have not been read for patterns yet."""

    not_read: int


class SimilarPattern(PatternOut):
    """A pattern that a step or a text is like: `same` by its wording, or `alike` by its words; and how many other sessions have it."""

    like: Literal["same", "alike"]
    other_sessions: int

    @classmethod
    def of_similar(cls, found: Similar, trend: Trend | None) -> Self:
        """The pattern."""
        return cls.of(found.pattern, trend, found.resolution, like=found.like, other_sessions=found.others)


class SimilarPatterns(Page[SimilarPattern]):
    """All patterns that a step or a text is like. `not_read` is how many steps of the project have not been read for patterns yet."""

    not_read: int


class WordingOut(Schema):
    """A wording of a pattern, and how many steps have it."""

    text: str
    steps: int


class PatternInSession(Schema):
    """A session with a pattern: in how many steps, the first of them (`sequences`), and what solved it there. `undated_steps` have no time."""

    session: SessionNamed
    steps: int
    undated_steps: int
    sequences: list[int]
    first_seen: str | None
    last_seen: str | None
    resolution: ResolutionOut | None

    @classmethod
    def of(cls, row: InSession) -> "PatternInSession":
        """The session."""
        return cls.from_attributes(
            row,
            session=SessionNamed.of(row.session),
            undated_steps=row.undated,
            first_seen=row.first_at,
            last_seen=row.last_at,
            resolution=ResolutionOut.of(row.resolution),
        )


class PatternDetails(PatternOut):
    """A pattern with its wordings and one page of its sessions, the one that had it last first."""

    wordings: list[WordingOut]
    items: list[PatternInSession]
    next: str | None


class PatternRuleIn(Strict):
    """A rule to create: a pattern is reported once so many sessions have it in one window; without a `kind` errors and questions."""

    sessions: int = Field(ge=FEWEST_SESSIONS, le=MOST_SESSIONS)
    window: Window
    kind: Kind | None = None
    url: str = ""


class PatternRuleOut(Schema):
    """A rule: how many sessions in one window, and which kind of pattern (null for both). `url` is notified; null for no notification."""

    id: str
    kind: Kind | None
    sessions: int
    window: Window
    url: str | None
    created_by: str
    created_at: str

    @classmethod
    def of(cls, rule: models.PatternRule) -> "PatternRuleOut":
        """The rule."""
        return cls.from_attributes(rule, url=rule.url or None)


class PatternRules(Page[PatternRuleOut]):
    """The rules of a project."""


class PatternRuleDeleted(Schema):
    """The id of the rule that was deleted."""

    deleted: str


class PatternNamed(Schema):
    """A pattern as an alert names it."""

    id: str
    kind: Kind
    text: str


class PatternAlertOut(Schema):
    """A pattern that met a rule in the window that began at `since`. `told_at` and `problem` are about notifying the rule's `url`."""

    id: str
    pattern: PatternNamed
    rule: PatternRuleOut
    since: str
    sessions: int
    found_at: str
    seen_at: str | None
    seen_by: str | None
    told_at: str | None
    problem: str | None

    @classmethod
    def of(cls, alert: models.PatternAlert) -> "PatternAlertOut":
        """The alert."""
        return cls.from_attributes(
            alert, pattern=alert.pattern.pattern or alert.pattern, rule=PatternRuleOut.of(alert.rule)
        )


class PatternAlerts(Page[PatternAlertOut]):
    """Alerts, the latest first."""


def resolution_words(found: Resolution) -> str:
    """By which rule a step is taken for the solution, in words."""
    step = f"step {found.solved_by:,}"
    if found.how == SAME_CALL:
        return f"the same call went through in {step}"
    if found.how == CHANGED_CALL:
        names = ", ".join(found.changed[:_SHOWN_NAMES])
        more = f" and {len(found.changed) - _SHOWN_NAMES} more" if len(found.changed) > _SHOWN_NAMES else ""
        return f"the call went through in {step} with a different {names}{more}"
    return f"{step} is marked as the solution"
