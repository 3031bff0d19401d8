"""Suites and their runs as the API takes and returns them."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.recording.sessions.pure.vocabulary import Kind
from timemachine.replay.runs.pure.options import SessionOptions
from timemachine.replay.runs.pure.summary import FirstDivergence, FrequentError
from timemachine.replay.runs.schemas import ContextCounts, ReplayStatus, StepCounts, StoredOptions
from timemachine.replay.suites.models import Suite, SuiteReplay, SuiteRun
from timemachine.replay.suites.plan import Matching
from timemachine.replay.suites.pure.changes import Change, StepChange, StepFact
from timemachine.replay.suites.queries import RunCounts, named_in, over_limit
from timemachine.replay.suites.reports import summary

RunStatus = Literal["running", "done", "failed", "cancelled"]


class SuiteIn(Strict):
    """A suite: which sessions, how, with which models, when, and what counts as a failure."""

    name: str
    sessions: list[str] = Field(default_factory=list, max_length=1_000)
    matching: Matching | None = None
    options: SessionOptions = Field(default_factory=SessionOptions)
    use_models: list[str] = Field(default_factory=list, max_length=100)
    fail_on: list[str] = Field(default_factory=list, max_length=100)
    schedule: str | None = None


class SuiteChange(Strict):
    """What to change in a suite; what is left out stays. null removes `schedule` or `matching`."""

    name: str | None = None
    sessions: list[str] | None = Field(default=None, max_length=1_000)
    matching: Matching | None = None
    options: SessionOptions | None = None
    use_models: list[str] | None = Field(default=None, max_length=100)
    fail_on: list[str] | None = Field(default=None, max_length=100)
    schedule: str | None = None


class SuiteRunIn(Strict):
    """Conditions that count for this run in addition to the suite's own."""

    fail_on: list[str] = Field(default_factory=list, max_length=100)


class SuiteSessionOut(Schema):
    """A session of a suite."""

    id: str
    key: str
    name: str


class SuiteRunOut(Schema):
    """A run of a suite: how far it is, and its results. Money is US dollars.

    `since` counts the changes since the `previous` run, null without such a run; `held` lists the conditions of `fail_on` that are true.
    """

    id: str
    suite: str
    number: int
    kind: Literal["audit", "debug"]
    status: RunStatus
    requested_by: str
    cancelled_by: str | None
    due_at: str | None
    created_at: str
    finished_at: str | None
    use_models: list[str]
    options: StoredOptions
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
    cost_since: Change | None
    took_since: Change | None
    held: list[str] | None
    summary: str

    @classmethod
    def of(cls, run: SuiteRun, counts: RunCounts, **more: Any) -> Self:
        found = run.findings or {}
        return cls.from_attributes(
            run,
            suite=run.suite_id,
            previous=run.previous.number if run.previous else None,
            replays=counts.replays,
            left_out=counts.left_out,
            steps=StepCounts.of(counts),
            context=ContextCounts.of(counts),
            retrieval=counts.retrievals,
            verdicts=counts.verdicts,
            cost_usd=counts.cost_usd,
            unknown_cost_calls=counts.unknown_cost_calls,
            uncertain_calls=counts.uncertain_calls,
            most_frequent_error=counts.failure,
            over_limit_usd=over_limit(run, counts),
            since=found.get("counts"),
            cost_since=found.get("cost"),
            took_since=found.get("took"),
            summary=summary(run, counts),
            **more,
        )


class SuiteRunPage(Page[SuiteRunOut]):
    """Runs of a suite, the latest first."""


class Problem(Schema):
    """Why a replay could not be launched."""

    code: str
    message: str


class SuiteMember(Schema):
    """One session with one model in a run: its replay, or why it was not replayed, and where it first does something else than the recording."""

    session: str | None
    session_key: str
    arm: int
    replay_id: str | None
    status: ReplayStatus | None
    problem: Problem | None
    first_divergence: FirstDivergence | None

    @classmethod
    def of(cls, member: SuiteReplay, diverged: FirstDivergence | None = None) -> "SuiteMember":
        code, message = member.problem_code, member.problem or ""
        return cls.from_attributes(
            member,
            session=member.session_id,
            session_key=member.key,
            status=member.replay.status if member.replay else None,
            problem=Problem.model_construct(code=code, message=message) if code else None,
            first_divergence=diverged,
        )


class SuiteRunDetail(SuiteRunOut):
    """A run with its replays, and those that could not be launched."""

    members: list[SuiteMember]


class SuiteOut(Schema):
    """A suite: what it replays and when. `missing` are the keys of sessions that were deleted."""

    id: str
    name: str
    kind: Literal["audit", "debug"]
    sessions: list[SuiteSessionOut]
    missing: list[str]
    matching: Matching | None
    use_models: list[str]
    options: StoredOptions
    fail_on: list[str]
    schedule: str | None
    next_run_at: str | None
    problem: str | None
    created_by: str
    created_at: str
    latest_run: SuiteRunOut | None

    @classmethod
    def of(cls, suite: Suite, latest: SuiteRunOut | None = None, **more: Any) -> Self:
        named = named_in(suite)
        return cls.from_attributes(
            suite,
            sessions=[
                SuiteSessionOut.from_attributes(each.session, key=each.key)
                for each in named
                if each.session is not None
            ],
            missing=[each.key for each in named if each.session is None],
            latest_run=latest,
            **more,
        )


class SuitePage(Page[SuiteOut]):
    """Suites of the project by name."""


class SuiteEventOut(Schema):
    """Something that was done to a suite."""

    what: str
    by: str
    at: str
    facts: JsonObject


class SuiteDetail(SuiteOut):
    """A suite and who changed it, the latest change first."""

    events: list[SuiteEventOut]


class SuiteDeleted(Schema):
    """The suite that was deleted, and how many runs it had."""

    id: str
    name: str
    runs: int


class StepFactOut(Schema):
    """The result of a step in one run; `in_words` is the verdict in words, `answer` and `passages` are hashes, `step` is
    the path of its page.
    """

    status: str
    verdict: str | None
    in_words: str | None
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

    @classmethod
    def of(cls, fact: StepFact) -> Self:
        return cls.from_attributes(
            fact, replay_id=fact.replay, step=f"/replays/{fact.replay}/steps/{fact.sequence}/"
        )


class StepChangeOut(Schema):
    """A step of a run and the same step of the run before, and how they differ."""

    change: str
    session: str
    session_key: str | None
    model: str | None
    sequence: int
    kind: Kind
    label: str
    before: StepFactOut | None
    after: StepFactOut | None
    cost_change_usd: float | None
    took_change_ms: float | None

    @classmethod
    def of(cls, change: StepChange, keys: Mapping[str, str]) -> "StepChangeOut":
        """The change; `keys` are the keys of the sessions by their ids."""
        step = change.step
        return cls.from_attributes(
            step,
            change=change.change,
            session_key=keys.get(str(step.session)),
            before=change.before and StepFactOut.of(change.before),
            after=change.after and StepFactOut.of(change.after),
            cost_change_usd=change.cost_change,
            took_change_ms=change.took_change,
        )


class SuiteReport(Schema):
    """A page of the steps of a run, each with the same step of the `previous` run; null without such a run."""

    run: int
    status: RunStatus
    previous: int | None
    items: list[StepChangeOut]
    next: str | None
