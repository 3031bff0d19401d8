"""What some steps of a session add up to, over HTTP."""

from typing import Any

from django.http import HttpRequest
from ninja import Query

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.api.filter_schemas import TotalsFilter
from timemachine.api.paging import checked_limit, computed_page
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.totals import document, line_json, totals_by


@routers.sessions.get("/{session_id}/totals", summary="What some steps of a session add up to")
def totals(request: HttpRequest, session_id: str, asked: Query[TotalsFilter]) -> dict[str, Any]:
    """Time, tokens, cost, calls and errors of the steps that `filter` shows (all without one), and the same by kind, tool, model or agent, the longest first.

    `duration_ms` adds up what each of the `timed_actions` recorded: a step that contains others counts theirs too; null where none recorded any. `share` is
    that of the whole time, 0 to 1. A row of null are the steps that name none; its `filter` shows only them. Costs leave the `unknown_cost_calls` out.
    """
    session = session_of(caller(request, "read").project, session_id)
    size = checked_limit(asked.limit)
    shown = parse(asked.filter)
    found = totals_by(session, asked.by, shown)
    listed = computed_page(found.lines, asked.after, size, lambda line: line_json(line, asked.by, shown))
    return document(session, shown, found) | listed
