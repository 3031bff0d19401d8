"""What suites answer: themselves, their runs, and what changed since the run before."""

from typing import Any, Final, Literal, NotRequired

from timemachine.api.answers.replays import (
    ContextCounts,
    Estimates,
    FrequentError,
    ReplayOptions,
    ReplayStatus,
    StepCounts,
)
from timemachine.api.answers.shape import Answers, Document, Page, Told
from timemachine.recording.sessions.pure.vocabulary import Kind


class SuiteSession(Document):
    id: str
    key: str
    name: str


class Matching(Document):
    q: NotRequired[str]
    agent: NotRequired[str]
    user: NotRequired[str]
    tag: NotRequired[str]
    most: int


class FigureSince(Document):
    steps: int
    before: float | None
    after: float | None


class SuiteRun(Document):
    id: str
    suite: str
    number: int
    kind: Literal["audit", "debug"]
    status: Literal["running", "done", "failed", "cancelled"]
    requested_by: str
    cancelled_by: str | None
    due_at: str | None
    created_at: str
    finished_at: str | None
    use_models: list[str]
    options: ReplayOptions
    fail_on: list[str]
    previous: int | None
    replays: dict[ReplayStatus, int]
    left_out: int
    steps: StepCounts
    context: ContextCounts
    retrieval: dict[str, int]
    verdicts: dict[str, int]
    cost_usd: float
    unknown_cost_calls: int
    uncertain_calls: int
    most_frequent_error: FrequentError | None
    over_limit_usd: float | None
    since: dict[str, int] | None
    cost_since: FigureSince | None
    took_since: FigureSince | None
    held: list[str] | None
    summary: str


class SuiteRunPage(Page):
    items: list[SuiteRun]


class SuiteMember(Document):
    session: str | None
    session_key: str
    arm: int
    replay_id: str | None
    status: ReplayStatus | None
    problem: Told | None


class SuiteRunWhole(SuiteRun):
    members: list[SuiteMember]


class Suite(Document):
    id: str
    name: str
    kind: Literal["audit", "debug"]
    sessions: list[SuiteSession]
    missing: list[str]
    matching: Matching | None
    use_models: list[str]
    options: ReplayOptions
    fail_on: list[str]
    schedule: str | None
    next_run_at: str | None
    problem: str | None
    created_by: str
    created_at: str
    latest_run: SuiteRun | None


class SuitePage(Page):
    items: list[Suite]


class SuiteEvent(Document):
    what: str
    by: str
    at: str
    facts: dict[str, Any]


class SuiteWhole(Suite):
    events: list[SuiteEvent]


class SuiteDeleted(Document):
    id: str
    name: str
    runs: int


class StepFact(Document):
    status: str
    verdict: str | None
    context: str | None
    retrieval: str | None
    answer: str | None
    passages: str | None
    model: str | None
    cost_usd: float | None
    took_ms: float | None
    error: str | None
    replay_id: str
    step: str


class StepChange(Document):
    change: str
    session: str
    session_key: str | None
    model: str | None
    sequence: int
    kind: Kind
    label: str
    before: StepFact | None
    after: StepFact | None
    cost_change_usd: float | None
    took_change_ms: float | None


class SuiteReport(Page):
    run: int
    status: Literal["running", "done", "failed", "cancelled"]
    previous: int | None
    items: list[StepChange]


_ONE: Final = "/api/suites/{suite_id}"
_RUN: Final = f"{_ONE}/runs/{{number}}"
ANSWERS: Final[Answers] = {
    ("post", "/api/suites", 201): Suite,
    ("get", "/api/suites", 200): SuitePage,
    ("get", _ONE, 200): SuiteWhole,
    ("patch", _ONE, 200): SuiteWhole,
    ("delete", _ONE, 200): SuiteDeleted,
    ("post", f"{_ONE}/runs", 202): SuiteRunWhole,
    ("post", f"{_ONE}/runs/estimate", 200): Estimates,
    ("get", f"{_ONE}/runs", 200): SuiteRunPage,
    ("get", _RUN, 200): SuiteRunWhole,
    ("get", f"{_RUN}/report", 200): SuiteReport,
    ("post", f"{_RUN}/cancel", 200): SuiteRunWhole,
}
