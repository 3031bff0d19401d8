"""Replays and what they would cost, as the API takes and returns them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from timemachine.core.pure.schemas import Page, Schema
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import (
    CONTINUE,
    MOST_FRAMES,
    ReplayKind,
    ReplayOptions,
    SessionOptions,
    StepOptions,
)
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import FirstDivergence, FrequentError, StepTotals, Tally, sentence
from timemachine.replay.runs.tallies import tally

ReplayStatus = Literal["queued", "running", "done", "failed", "cancelled"]


class ReplayIn(SessionOptions):
    """What to replay and how. `from_checkpoint` is a checkpoint's name or sequence; several `use_models` make a comparison."""

    use_models: list[str] = Field(default_factory=list)
    from_checkpoint: int | str | None = None
    through_sequence: Annotated[int, Field(ge=1, lt=2**62)] | None = None

    def options(self, *, model: str | None, after_sequence: int | None) -> ReplayOptions:
        given = self.model_dump(exclude={"use_models", "from_checkpoint"})
        return ReplayOptions(**given, use_model=model, after_sequence=after_sequence)


class TrialIn(StepOptions):
    """What to change in one step and try again; what is left out stays as it was recorded."""

    question: str | None = None
    frames: list[StrictInt | StrictStr] | None = Field(default=None, max_length=MOST_FRAMES)
    use_model: str | None = None

    def options(self, sequence: int) -> ReplayOptions:
        return ReplayOptions(**dict(self), step=sequence)


class StoredOptions(ReplayOptions):
    """The options as they were stored, perhaps by another version. An option that is absent is as it was recorded."""

    model_config = ConfigDict(extra="allow")


class StepCounts(Schema):
    """How many steps there are, and how many have ended in which way."""

    total: int
    done: int
    failed: int
    skipped: int
    cancelled: int

    @classmethod
    def of(cls, totals: StepTotals) -> "StepCounts":
        counts = {status: totals.statuses.get(status, 0) for status in TERMINAL_STEP_STATUSES}
        return cls.from_attributes(totals, **counts)


class ContextCounts(Schema):
    """How many steps have which verdict on their frozen context."""

    verified: int
    reconstructed: int
    altered: int
    missing: int
    not_recorded: int

    @classmethod
    def of(cls, totals: StepTotals) -> "ContextCounts":
        counts = {verdict: totals.contexts.get(verdict, 0) for verdict in cls.model_fields}
        return cls.from_attributes(totals, **counts)


class WaitingOut(Schema):
    """How many calls wait because their model is busy, and when the last of them is tried again."""

    calls: int
    until: str | None


class ContinuationOut(Schema):
    """The model call that was continued, the session that it records into (null if that was deleted), and how it
    ended (null while it goes on)."""

    sequence: int
    branch: str | None
    ending: Ending | None
    finding: str | None

    @classmethod
    def of(cls, replay: Replay, counts: Tally) -> "ContinuationOut | None":
        """Return what is special about a continuation, None for other replays."""
        if counts.kind != CONTINUE:
            return None
        return cls.model_construct(
            sequence=replay.options["continue_from"],
            branch=None if replay.branch_id is None else str(replay.branch_id),
            ending=counts.ending,
            finding=None if counts.ending is None else counts.ending.finding,
        )


class ReplayOut(Schema):
    """A replay: its options, how far it is, and its results so far. Money is US dollars.

    `over_limit_usd` is by how much its own spend limit was passed; null if it has none. `absent` counts the requests that
    were sent without a part that was not recorded, by the part; in `inferred_tools` of them, tools without recorded
    definitions were offered as the recorded calls show them. `calls_in_text` counts the requests of agents that write their
    calls into their text: no tools are offered, and the texts are compared.
    """

    id: str
    session: str
    kind: ReplayKind
    model: str | None
    status: ReplayStatus
    cancel_requested: bool
    cancel_requested_at: str | None
    cancel_requested_by: str | None
    options: StoredOptions
    reason: str | None
    requested_by: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    steps: StepCounts
    context: ContextCounts
    retrieval: dict[str, int]
    verdicts: dict[str, int]
    cost_usd: float
    unknown_cost_calls: int
    recorded_cost_usd: float
    recorded_unknown_cost_calls: int
    waiting: WaitingOut
    over_limit_usd: float | None
    uncertain_calls: int
    most_frequent_error: FrequentError | None
    continuation: ContinuationOut | None
    first_divergence: FirstDivergence | None
    absent: dict[str, int]
    inferred_tools: int
    calls_in_text: int
    summary: str

    @classmethod
    def of(cls, replay: Replay, counts: Tally | None = None) -> "ReplayOut":
        """The replay; `counts` if it was counted together with others."""
        counts = counts or tally(replay)
        return cls.from_attributes(
            replay,
            session=replay.session_id,
            cancel_requested=replay.cancel_requested_at is not None,
            steps=StepCounts.of(counts),
            context=ContextCounts.of(counts),
            retrieval=counts.retrievals,
            verdicts=counts.verdicts,
            cost_usd=counts.cost_usd,
            unknown_cost_calls=counts.unknown_cost_calls,
            recorded_cost_usd=counts.recorded_cost_usd,
            recorded_unknown_cost_calls=counts.recorded_unknown_cost_calls,
            waiting=WaitingOut.from_attributes(counts, calls=counts.waiting, until=counts.waits_until),
            over_limit_usd=counts.over_limit_usd,
            uncertain_calls=counts.uncertain_calls,
            most_frequent_error=counts.failure,
            continuation=ContinuationOut.of(replay, counts),
            first_divergence=counts.diverged,
            absent=counts.absent,
            inferred_tools=counts.inferred,
            calls_in_text=counts.in_text,
            summary=sentence(counts),
        )


class ReplayPage(Page[ReplayOut]):
    """Replays, the newest first."""


class ReplayLaunched(Schema):
    """The id of a replay that was launched."""

    replay_id: str


class EstimateOut(Schema):
    """About what a replay would cost with one model, null: with the recorded ones.

    `steps` counts what would be repeated, `kinds` the same by kind (`ask`, `find`, `llm_call`), `calls` the asks and model calls among it that would be sent. `cost_usd` leaves out the
    `unknown_cost_calls`, whose reasons are in `unknown_reasons`. It lies between `least_usd` and `most_usd` if the answers are half to twice as
    long as expected; with `max_tokens`, that is the longest. `guessed_calls` are those whose tokens were not recorded, or that would send
    something else.
    """

    model: str | None
    steps: int
    kinds: dict[str, int]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    least_usd: float
    most_usd: float
    unknown_cost_calls: int
    unknown_reasons: dict[str, int]
    guessed_calls: int


class Estimates(Schema):
    """An estimate for each model."""

    estimates: list[EstimateOut]
