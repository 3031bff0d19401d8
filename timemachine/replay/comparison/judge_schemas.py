"""What judge models say of the cells of a comparison, as the API takes and returns it."""

from typing import Any, Literal, Self

from pydantic import Field

from timemachine.core.payloads.queries import value
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.llm.schemas import CallUsageOut, FailureOut
from timemachine.replay.comparison.models import CellOpinion
from timemachine.replay.comparison.pure.judge_prompt import JudgeReplyOut


class OpinionsIn(Strict):
    """The model that is to judge a comparison's cells, or the cell of `session`, `sequence`, `arm` and `run`."""

    model: str
    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    arm: int | None = Field(default=None, ge=1, le=8)
    run: int = Field(default=1, ge=0, le=1_000)


class OpinionUsage(Schema):
    """The tokens of each call."""

    calls: list[CallUsageOut | None]


class OpinionOut(Schema):
    """What a judge model said of a cell: over both orders, and in `asked` for each order."""

    id: str
    model: str
    state: Literal["waiting", "asking", "done", "failed", "lost", "cancelled"]
    relation: Literal["equivalent", "contradicts", "different", "undecided"] | None
    preference: Literal["better", "worse", "neither", "undecided"] | None
    asked: list[JudgeReplyOut] | None
    prompt_template: str | None
    usage: OpinionUsage | None
    cost_usd: float | None
    unknown_cost_calls: int
    calls_made: int
    error: FailureOut | None
    requested_by: str
    created_at: str
    finished_at: str | None

    @classmethod
    def of(cls, opinion: CellOpinion, **more: Any) -> Self:
        failed = FailureOut.of(opinion) if opinion.error_type else None
        return cls.from_attributes(opinion, error=failed, **more)


class _Sent(Schema):
    prompt: Any
    raw_answers: Any


class OpinionDetail(OpinionOut, _Sent):
    """An opinion with the messages that were sent, and the raw answers."""

    @classmethod
    def of(cls, opinion: CellOpinion, **more: Any) -> Self:
        return super().of(opinion, prompt=value(opinion.prompt), raw_answers=value(opinion.raw), **more)


class JudgeQueued(Schema):
    """The judge model's resolved name, and how many cells it is asked about."""

    model: str
    cells: int


class JudgeEstimateOut(Schema):
    """About what judging the cells would cost, and what that rests on; `cost_usd` is null if the price is unknown."""

    model: str
    cells: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: str


class JudgesCancelled(Schema):
    """How many cells no judge model is asked about any more."""

    cells: int
