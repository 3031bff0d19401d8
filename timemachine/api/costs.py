"""What recorded work cost, over HTTP."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from timemachine.api.access import caller
from timemachine.api.filter_schemas import CostFilter
from timemachine.api.paging import checked_limit, computed_page
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.usage.costs import Wanted
from timemachine.recording.usage.document import costs, row_json, totals_json
from timemachine.recording.usage.pure.span import span_of
from timemachine.replay.runs.costs import spent_on_replays

router = Router(tags=["costs"])


@router.get("", summary="What recorded work cost")
def index(request: HttpRequest, asked: Query[CostFilter]) -> dict[str, Any]:
    """Totals of what was recorded on the days from `since` to `until` (UTC; the last 30 days), and the rows of one group: `by` is agent, model, tag, day or tool.

    `calls` are calls of models and `tool_calls` those of tools; `p50_ms` and `p95_ms` of calls that recorded how long they took, within 2.5 %, null without
    any. A session with several tags counts under each. `replays` is what replays spent on these days, which is no part of the totals; null where a filter is
    given.
    """
    project = caller(request, "read").project
    size = checked_limit(asked.limit)
    span = span_of(asked.since, asked.until, now().date())
    wanted = Wanted(span=span, agent=asked.agent, model=asked.model, tag=asked.tag, tool=asked.tool)
    found = costs(project, wanted, asked.by)
    listed = computed_page(found.rows, asked.after, size, lambda row: row_json(row, asked.by))
    return {
        "since": span.since.isoformat(),
        "until": span.until.isoformat(),
        "by": asked.by,
        "totals": totals_json(found),
        "replays": None if wanted.filters else _replays(project, wanted),
        **listed,
    }


def _replays(project: Project, wanted: Wanted) -> dict[str, Any]:
    spent = spent_on_replays(project, wanted.span.since, wanted.span.until)
    return {
        "cost_usd": float(spent.cost_usd),
        "unknown_cost_calls": spent.unknown_calls,
        "uncertain_calls": spent.uncertain_calls,
    }
