"""What some steps of a session add up to, over HTTP."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from ninja import Query

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.api.filter_schemas import TotalsFilter
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.base.content import sha256_hex
from timemachine.base.errors import InvalidInput
from timemachine.recording.queries import session_of
from timemachine.timeline.bottom_up import Line
from timemachine.timeline.filter import parse
from timemachine.timeline.totals import document, line_json, totals_by


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
    begin = 0 if asked.after is None else _behind(asked.after, found.lines)
    listed = page(
        found.lines[begin : begin + size + 1],
        size,
        lambda line: [_place(line)],
        lambda line: line_json(line, asked.by, shown),
    )
    return document(session, shown, found) | listed


def _behind(after: str, lines: Sequence[Line]) -> int:
    """Where the rows go on behind the one that `after` names, in their order of now. Raises `InvalidInput`."""
    last = read_place(after, paging.name)
    for number, line in enumerate(lines):
        if _place(line) == last:
            return number + 1
    raise InvalidInput(
        "The row that `after` names is not there any more; begin without it.", code="unknown_after"
    )


def _place(line: Line) -> str:
    """A row by a digest of what it is of: recorded names may hold anything."""
    return sha256_hex(repr(line.value).encode())
