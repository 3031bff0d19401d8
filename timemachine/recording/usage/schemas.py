"""Costs as the API takes and returns them. Money in US dollars, durations in milliseconds."""

from datetime import date
from typing import Any, Final, Literal

from timemachine.core.pure.numbers import dollars
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.recording.usage.costs import Costs
from timemachine.recording.usage.pure.figures import Row, Sums
from timemachine.recording.usage.pure.latency import Latency


class CostsIn(Strict):
    """Which recorded work is added up, and by what; an empty text matches any. `since` and `until` are days in UTC, both included."""

    by: str = "model"
    since: str = ""
    until: str = ""
    agent: str = ""
    model: str = ""
    tag: str = ""
    tool: str = ""
    limit: int = 50
    after: str | None = None


class CostSums(Schema):
    """Sums over steps. `timed_calls` are the calls with a recorded duration; the percentiles are null without any."""

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
    """The sums over all steps that match, and how many sessions have any of them. `unknown_reasons` has the number of calls
    for each reason why a cost is unknown."""

    sessions: int
    unknown_reasons: dict[str, int]

    @classmethod
    def of(cls, found: Costs) -> "CostTotals":
        return cls.model_construct(
            sessions=found.sessions,
            unknown_reasons=dict(found.unknown_reasons),
            **_sums(found.sums),
            **_latency_fields(found.latency),
        )


class CostOfAgent(CostSums):
    """The sums of one agent; null for steps without one."""

    agent: str | None


class CostOfModel(CostSums):
    """The sums of one model; null for steps without one."""

    model: str | None


class CostOfTag(CostSums):
    """The sums of the sessions with one tag."""

    tag: str | None


class CostOfDay(CostSums):
    """The sums of one day, in UTC."""

    day: str


class CostOfTool(CostSums):
    """The sums of one tool, and which share of its calls failed."""

    tool: str | None
    error_share: float | None


class UndatedCosts(Schema):
    """What imported steps without times cost, whatever the day; it is not part of the totals."""

    calls: int
    cost_usd: float | None
    unknown_cost_calls: int

    @classmethod
    def of(cls, sums: Sums) -> "UndatedCosts":
        return cls.from_attributes(sums)


class CostOfReplays(Schema):
    """What replays cost on these days, continuations included; it is not part of the totals."""

    cost_usd: float
    unknown_cost_calls: int
    uncertain_calls: int


_ROWS: Final[dict[str, type[CostSums]]] = {
    "agent": CostOfAgent,
    "model": CostOfModel,
    "tag": CostOfTag,
    "day": CostOfDay,
    "tool": CostOfTool,
}


class CostsOut(Schema):
    """Totals and one page of the rows of a group. `replays` is null if the request has a filter."""

    since: str
    until: str
    by: Literal["agent", "model", "tag", "day", "tool"]
    totals: CostTotals
    undated: UndatedCosts
    replays: CostOfReplays | None
    items: list[CostOfAgent] | list[CostOfModel] | list[CostOfTag] | list[CostOfDay] | list[CostOfTool]
    next: str | None


def cost_row(row: Row, by: str) -> CostSums:
    """Return the sums of one row, with its value in the field named like the group; null if it was not recorded."""
    value = row.value.isoformat() if isinstance(row.value, date) else row.value
    share = {"error_share": row.error_share} if by == "tool" else {}
    fields = {by: value, **_sums(row.sums), **share, **_latency_fields(row.latency)}
    return _ROWS[by].model_construct(**fields)


def _sums(sums: Sums) -> dict[str, Any]:
    return {
        "actions": sums.steps,
        "calls": sums.calls,
        "tool_calls": sums.tool_calls,
        "errors": sums.errors,
        "input_tokens": sums.input_tokens,
        "output_tokens": sums.output_tokens,
        "cost_usd": dollars(sums.cost_usd),
        "unknown_cost_calls": sums.unknown_cost_calls,
        "cached_calls": sums.cached_calls,
        "saved_usd": dollars(sums.saved_usd),
        "unknown_saved_calls": sums.unknown_saved_calls,
    }


def _latency_fields(latency: Latency) -> dict[str, Any]:
    return {"timed_calls": latency.timed, "p50_ms": latency.p50_ms, "p95_ms": latency.p95_ms}
