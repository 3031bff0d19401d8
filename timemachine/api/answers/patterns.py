"""What patterns answer: the same error or question in several sessions, what solved it, the rules that watch."""

from typing import Final, Literal

from timemachine.api.answers.shape import Answers, Document, Page

type PatternKind = Literal["error", "question"]


class SessionKnown(Document):
    id: str
    key: str
    name: str
    agent: str | None
    started_at: str | None


class Trend(Document):
    unit: Literal["day", "week"]
    begins: str
    counts: list[int]
    before: int


class Resolution(Document):
    session: SessionKnown
    sequence: int
    solved_by: int
    how: Literal["significant", "same_call", "changed_call"]
    changed: list[str]
    label: str
    says: str
    address: str


class RecurringPattern(Document):
    id: str
    kind: PatternKind
    text: str
    sessions: int
    steps: int
    solved_sessions: int
    first_seen: str | None
    last_seen: str | None
    trend: Trend | None
    resolution: Resolution | None
    address: str


class PatternPage(Page):
    items: list[RecurringPattern]
    not_read: int


class SimilarPattern(RecurringPattern):
    like: Literal["same", "alike"]
    other_sessions: int


class SimilarPatterns(Page):
    items: list[SimilarPattern]
    not_read: int


class Wording(Document):
    text: str
    steps: int


class PatternInSession(Document):
    session: SessionKnown
    steps: int
    sequences: list[int]
    first_seen: str | None
    last_seen: str | None
    resolution: Resolution | None


class PatternWhole(RecurringPattern):
    wordings: list[Wording]
    items: list[PatternInSession]
    next: str | None


class PatternRule(Document):
    id: str
    kind: PatternKind | None
    sessions: int
    window: Literal["day", "week", "month"]
    url: str | None
    created_by: str
    created_at: str


class PatternRules(Page):
    items: list[PatternRule]


class PatternNamed(Document):
    id: str
    kind: PatternKind
    text: str


class PatternAlert(Document):
    id: str
    pattern: PatternNamed
    rule: PatternRule
    since: str
    sessions: int
    found_at: str
    seen_at: str | None
    seen_by: str | None
    told_at: str | None
    problem: str | None


class PatternAlerts(Page):
    items: list[PatternAlert]


class PatternRuleDeleted(Document):
    deleted: str


ANSWERS: Final[Answers] = {
    ("get", "/api/patterns", 200): PatternPage | SimilarPatterns,
    ("get", "/api/patterns/{pattern_id}", 200): PatternWhole,
    ("get", "/api/patterns/alerts", 200): PatternAlerts,
    ("post", "/api/patterns/alerts/{alert_id}/seen", 200): PatternAlert,
    ("get", "/api/patterns/rules", 200): PatternRules,
    ("post", "/api/patterns/rules", 201): PatternRule,
    ("delete", "/api/patterns/rules/{rule_id}", 200): PatternRuleDeleted,
}
