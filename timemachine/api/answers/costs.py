"""What costs answer: totals, and the rows of one group."""

from typing import Final, Literal

from timemachine.api.answers.shape import Answers, Document, Page


class CostSums(Document):
    actions: int
    calls: int
    tool_calls: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    timed_calls: int
    p50_ms: float | None
    p95_ms: float | None


class CostTotals(CostSums):
    sessions: int


class CostOfAgent(CostSums):
    agent: str | None


class CostOfModel(CostSums):
    model: str | None


class CostOfTag(CostSums):
    tag: str | None


class CostOfDay(CostSums):
    day: str


class CostOfTool(CostSums):
    tool: str | None
    error_share: float | None


class CostOfReplays(Document):
    cost_usd: float
    unknown_cost_calls: int
    uncertain_calls: int


class Costs(Page):
    since: str
    until: str
    by: Literal["agent", "model", "tag", "day", "tool"]
    totals: CostTotals
    replays: CostOfReplays | None
    items: list[CostOfAgent] | list[CostOfModel] | list[CostOfTag] | list[CostOfDay] | list[CostOfTool]


ANSWERS: Final[Answers] = {("get", "/api/costs", 200): Costs}
