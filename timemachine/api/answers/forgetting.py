"""What forgetting answers: deletions in bulk, legal holds, retention rules."""

from typing import Final, Literal, NotRequired

from timemachine.api.answers.shape import Answers, Document, Page


class Which(Document):
    """Which sessions; what is not there was not asked for."""

    q: NotRequired[str]
    named: NotRequired[str]
    agent: NotRequired[str]
    user: NotRequired[str]
    status: NotRequired[str]
    tag: NotRequired[str]
    tool: NotRequired[str]
    kind: NotRequired[str]
    model: NotRequired[str]
    since: NotRequired[str]
    until: NotRequired[str]
    min_cost: NotRequired[float]
    older_than_days: NotRequired[int]


class ForgottenStates(Document):
    waiting: NotRequired[int]
    erased: NotRequired[int]
    held: NotRequired[int]
    changed: NotRequired[int]
    gone: NotRequired[int]
    failed: NotRequired[int]


class Forgetting(Document):
    id: str
    filter: Which
    rule: str | None
    status: Literal["found", "running", "done", "cancelled"]
    sessions: int
    turns: int
    held: int
    every: bool | None
    summarised: int
    states: ForgottenStates
    deleted_turns: int
    reason: str | None
    requested_by: str
    requested_at: str
    confirmed_by: str | None
    confirmed_at: str | None
    finished_at: str | None


class ForgettingPage(Page):
    items: list[Forgetting]


class Forgotten(Document):
    session: str
    key: str | None
    name: str | None
    turns: int
    summarised: bool
    state: Literal["waiting", "erased", "held", "changed", "gone", "failed"]
    problem: str | None


class ForgottenPage(Page):
    items: list[Forgotten]


class Hold(Document):
    id: str
    filter: Which | None
    reason: str
    placed_by: str
    placed_at: str
    sessions: int | None
    held_still: int | None
    released_by: str | None
    released_at: str | None
    release_reason: str | None


class HoldPage(Page):
    items: list[Hold]


class HeldSession(Document):
    session: str
    key: str | None
    name: str | None
    released_at: str | None


class HoldWhole(Hold):
    first: list[HeldSession]


class SessionsMeant(Document):
    sessions: int
    turns: int
    held: int
    recording: int
    summarised: int


class WouldHold(SessionsMeant):
    filter: Which | None


class RetentionRule(Document):
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
    due: SessionsMeant | None


class RetentionFloor(Document):
    days: int
    because: str


class RetentionRules(Document):
    items: list[RetentionRule]
    floor: RetentionFloor


class WouldDelete(Document):
    due: SessionsMeant
    first: str | None
    replaces: RetentionRule | None
    floor: RetentionFloor


_ONE: Final = "/api/forgettings/{forgetting_id}"
ANSWERS: Final[Answers] = {
    ("post", "/api/forgettings", 201): Forgetting,
    ("get", "/api/forgettings", 200): ForgettingPage,
    ("get", _ONE, 200): Forgetting,
    ("get", f"{_ONE}/sessions", 200): ForgottenPage,
    ("post", f"{_ONE}/confirm", 202): Forgetting,
    ("post", f"{_ONE}/cancel", 200): Forgetting,
    ("post", "/api/holds", 200): WouldHold,
    ("post", "/api/holds", 201): Hold,
    ("get", "/api/holds", 200): HoldPage,
    ("get", "/api/holds/{hold_id}", 200): HoldWhole,
    ("post", "/api/holds/{hold_id}/release", 200): Hold,
    ("get", "/api/retention", 200): RetentionRules,
    ("post", "/api/retention", 200): WouldDelete,
    ("post", "/api/retention", 201): RetentionRule,
    ("delete", "/api/retention/{rule_id}", 200): RetentionRule,
}
