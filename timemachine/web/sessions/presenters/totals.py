"""Totals by kind, tool, model or agent as a page shows them: the rows with where each leads, and what the rest adds up to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.pure.aggregation import GROUPS, Line, Sums, narrowed, summed
from timemachine.recording.timeline.pure.filter import Filter
from timemachine.recording.timeline.totals import totals_by
from timemachine.web.sessions.presenters.steps import address_query

SHOWN: Final = 25
"""How many rows a page has; what more there is stands in one line under them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLine:
    """A row: where its steps are shown alone (empty where no filter can say which), and its bar's length in percent."""

    line: Line
    alone: str
    percent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The totals of some steps: `groups` are the ways to group them, with the address of each and whether it is the one that is shown."""

    by: str
    whole: Sums
    lines: Sequence[ShownLine]
    groups: Sequence[tuple[str, str, bool]]
    more: int
    rest: Sums


def panel(
    session: Session, by: str, shown: Filter, *, here: Mapping[str, Any], name: str, timeline: str
) -> Panel:
    """The totals of a filter's steps. `here` is the query that links keep, `name` what of it says the grouping, `timeline` its address."""
    found = totals_by(session, by, shown)
    kept = {key: value for key, value in here.items() if key not in {"step", "open", "by"}}
    rest = found.lines[SHOWN:]
    return Panel(
        by=by,
        whole=found.whole,
        lines=[_line(line, by, shown, kept, timeline) for line in found.lines[:SHOWN]],
        groups=[(each, address_query({**here, name: each}), each == by) for each in GROUPS],
        more=len(rest),
        rest=summed(line.sums for line in rest),
    )


def _line(line: Line, by: str, shown: Filter, kept: Mapping[str, Any], timeline: str) -> ShownLine:
    only = narrowed(shown, by, line.value)
    return ShownLine(
        line=line,
        alone="" if only is None else timeline + address_query({**kept, "filter": str(only)}),
        percent=f"{(line.share or 0) * 100:.1f}",
    )
