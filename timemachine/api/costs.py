"""The costs of recorded work over HTTP."""

from typing import Any, cast

from django.http import HttpRequest
from ninja import Query, Router

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.replica import read_from_replica
from timemachine.recording.usage.costs import CostQuery, costs
from timemachine.recording.usage.pure.span import span_of
from timemachine.recording.usage.schemas import (
    CostOfReplays,
    CostsIn,
    CostsOut,
    CostTotals,
    UndatedCosts,
    cost_row,
)
from timemachine.replay.runs.costs import replay_spending

router = Router(tags=["costs"])


@router.get("", response=CostsOut, summary="Costs of recorded work")
@read_from_replica
def index(request: HttpRequest, asked: Query[CostsIn]) -> CostsOut:
    """Totals of what was recorded from `since` to `until` (days in UTC; the last 30 days), and the rows of one group: `by` is agent, model, tag, day or tool.

    `calls` are calls of models and `tool_calls` those of tools; `p50_ms` and `p95_ms` cover the calls that recorded how long they took, within 2.5%, null
    without any. A session with several tags counts under each. `replays` is what replays cost on these days, continuations included, which is not part of the totals; null if
    there is a filter. `undated` is what imported steps without times cost, which is on no day.
    """
    project = caller(request, "read").project
    span = span_of(asked.since, asked.until, now().date())
    cost_query = CostQuery(span=span, agent=asked.agent, model=asked.model, tag=asked.tag, tool=asked.tool)
    found = costs(project, cost_query, asked.by)
    rows, following = paging.computed_rows(found.rows, asked.limit, asked.after)
    return CostsOut.model_construct(
        since=span.since.isoformat(),
        until=span.until.isoformat(),
        by=cast("Any", asked.by),
        totals=CostTotals.of(found),
        undated=UndatedCosts.of(found.undated),
        replays=None if cost_query.filters else _replays(project, cost_query),
        items=cast("Any", [cost_row(row, asked.by) for row in rows]),
        next=following,
    )


def _replays(project: Project, cost_query: CostQuery) -> CostOfReplays:
    spent = replay_spending(project, cost_query.span.since, cost_query.span.until)
    return CostOfReplays.from_attributes(spent, unknown_cost_calls=spent.unknown_calls)
