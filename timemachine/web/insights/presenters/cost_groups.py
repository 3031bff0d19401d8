"""The tables of the costs page: their rows, titles and links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from timemachine.recording.usage.costs import CostQuery, Histograms, with_latency
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import Cell, Row, Sums, Value, summed
from timemachine.web.insights.presenters.cost_plot import days_in_words, days_of_a_bar, last_of

SHOWN: Final = 25
"""Number of rows in a table; one line below it sums up the rest."""
TITLES: Final[Mapping[str, str]] = {
    "model": "By model",
    "agent": "By agent",
    "tag": "By tag",
    "tool": "By tool",
    "day": "By day",
}
NOTES: Final[Mapping[str, str]] = {
    "model": "calls without a model are “not recorded”",
    "agent": "a step without an agent counts for its session's agent",
    "tag": "session tags; a session counts under each of its tags",
    "tool": "errors recorded with the call or its result",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row: its name (None if not recorded), the URL that shows it alone, and the URL of its sessions."""

    row: Row
    name: str | None
    alone: str
    sessions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A table: its rows, and the number and sum of the remaining ones. `timed` tells whether it has latencies."""

    by: str
    title: str
    note: str
    lines: Sequence[Line]
    more: int
    rest: Sums
    timed: bool


def groups_of(
    cells: Sequence[Cell], tags: Sequence[Row] | None, histograms: Histograms | None, query: CostQuery
) -> list[Group]:
    """Return the tables of the page; without histograms they have no latencies, without rows of tags there is no tag table."""
    rows: dict[str, Sequence[Row]] = {
        "model": figures.by_model(cells),
        "agent": figures.by_agent(cells),
        "tool": figures.by_tool(cells),
        "day": figures.by_days(cells, query.span.since, days_of_a_bar(query.span)),
    }
    timed = {
        by: found if histograms is None else with_latency(found, histograms) for by, found in rows.items()
    }
    if tags is not None:
        timed["tag"] = tags
    return [_group(by, timed[by], query, timed=histograms is not None) for by in TITLES if timed.get(by)]


def query_of(wanted: CostQuery, **changes: str) -> str:
    """Return the current query string with some values changed."""
    days = {"since": wanted.span.since.isoformat(), "until": wanted.span.until.isoformat()}
    asked = {name: value for name, value in {**days, **wanted.filters, **changes}.items() if value}
    return "?" + urlencode(asked, safe=":,", errors="surrogatepass")


def _group(by: str, rows: Sequence[Row], query: CostQuery, *, timed: bool) -> Group:
    most = len(rows) if by == "day" else SHOWN
    weekly = by == "day" and days_of_a_bar(query.span) > 1
    return Group(
        by=by,
        title="By week" if weekly else TITLES[by],
        note="starting with the first of these days" if weekly else NOTES.get(by, ""),
        lines=[_line(by, row, query) for row in rows[:most]],
        more=len(rows[most:]),
        rest=summed(row.sums for row in rows[most:]),
        timed=timed,
    )


def _line(by: str, row: Row, query: CostQuery) -> Line:
    if row.value is None:
        return Line(row=row, name=None, alone="", sessions="")
    changes = _days(row.value, query) if by == "day" else {by: str(row.value)}
    name = days_in_words(row.value, query.span) if by == "day" else str(row.value)
    there = query_of(query, **changes)
    return Line(row=row, name=name, alone=there, sessions=there)


def _days(first: Value, query: CostQuery) -> dict[str, str]:
    return {"since": str(first), "until": str(last_of(first, query.span))}
