"""Totals by kind, tool, model or agent: the rows with their links, and the sum of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.copies import Uncounted, uncounted_in
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.aggregation import GROUPS, Line, narrowed
from timemachine.recording.timeline.pure.filter import Filter, with_unknown_cost
from timemachine.recording.timeline.totals import totals_by
from timemachine.recording.usage.pure.figures import Sums, summed
from timemachine.recording.usage.queries import reasons_of
from timemachine.web.sessions.presenters.steps import address_query

SHOWN: Final = 25
"""Number of rows on a page; one line below them sums up the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLine:
    """A row: the URL of its steps alone (empty if no filter can select them), and its bar's length in percent."""

    line: Line
    alone: str
    percent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The totals of some steps: `groups` are the available groupings, each with its URL and whether it is selected.

    `uncounted` are the copies and corrections of the session, which they leave out. `unknown_reasons` says why costs are unknown, and `unknown_steps` is the URL of these steps.
    """

    by: str
    whole: Sums
    uncounted: Uncounted
    unknown_reasons: Mapping[str, int]
    unknown_steps: str
    lines: Sequence[ShownLine]
    groups: Sequence[tuple[str, str, bool]]
    more: int
    rest: Sums


def panel(
    session: Session, by: str, shown: Filter, *, here: Mapping[str, Any], name: str, timeline: str
) -> Panel:
    """Return the totals of a filter's steps. `here` is the query that links keep, `name` its parameter for the grouping, `timeline` the timeline's URL."""
    found = totals_by(session, by, shown)
    parameters = {key: value for key, value in here.items() if key not in {"step", "open", "by"}}
    rest = found.lines[SHOWN:]
    unpriced = with_unknown_cost(shown)
    return Panel(
        by=by,
        whole=found.whole,
        uncounted=uncounted_in(session),
        unknown_reasons=reasons_of(Action.objects.filter(matching(shown), session=session))
        if found.whole.unknown_cost_calls
        else {},
        unknown_steps=timeline + address_query({**parameters, "filter": str(unpriced)}),
        lines=[_line(line, by, shown, parameters, timeline) for line in found.lines[:SHOWN]],
        groups=[(each, address_query({**here, name: each}), each == by) for each in GROUPS],
        more=len(rest),
        rest=summed(line.sums for line in rest),
    )


def _line(line: Line, by: str, shown: Filter, parameters: Mapping[str, Any], timeline: str) -> ShownLine:
    only = narrowed(shown, by, line.value)
    return ShownLine(
        line=line,
        alone="" if only is None else timeline + address_query({**parameters, "filter": str(only)}),
        percent=f"{(line.share or 0) * 100:.1f}",
    )
