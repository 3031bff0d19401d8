"""Cost per day as bars with a part for each model, and a hatched mark for calls with unknown cost; and the tables of the page. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final
from urllib.parse import urlencode

from timemachine.core.pure.numbers import money, total_cost
from timemachine.recording.usage.costs import CostQuery, Histograms, with_latency
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import NOTHING, Cell, Row, Sums, Value, summed
from timemachine.recording.usage.pure.span import DAY, Span
from timemachine.web.insights.presenters.cost_stack import Series

WIDTH, HEIGHT = 720, 186
LEFT, RIGHT, TOP, BOTTOM = 92, 716, 36, 152
MARK: Final = 8
"""Height of the hatched mark of unknown costs, whatever their number."""
FULL: Final = 0.8
"""Width of a bar as a share of its slot."""
TOP_ROWS: Final = 5
"""Number of rows in a table."""
SHOWN: Final = 25
"""The same after "Show all"; one line below the table sums up the rest."""
TITLES: Final[Mapping[str, str]] = {
    "day": "By day",
    "model": "By model",
    "agent": "By agent",
    "tag": "By tag",
    "tool": "By tool",
}
NOTES: Final[Mapping[str, str]] = {
    "model": "calls without a model and totals reported by the agent itself are “not recorded”",
    "agent": "a step without an agent counts for its session's agent",
    "tag": "session tags; a session counts under each of its tags",
    "tool": "errors recorded with the call or its result",
}


_COARSE_NOTES: Final[Mapping[str, str]] = {"week": "ISO weeks, from Monday", "month": "calendar months"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The cost of one model in a bar; `series` counts from 1."""

    series: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The cost of one day or week; `mark` is the position of the unknown-cost mark, None if all costs are known."""

    x: float
    y: float
    width: float
    height: float
    mark: float | None
    middle: float
    says: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label at a position of an axis."""

    place: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPlot:
    """The plot: its bars, the ticks of both axes, the number of days or weeks with unknown costs, and the models by series."""

    bars: tuple[Bar, ...]
    upwards: tuple[Tick, ...]
    across: tuple[Tick, ...]
    unknown: int
    legend: tuple[str | None, ...] = ()
    width: int = WIDTH
    height: int = HEIGHT


def days_in_words(first: date, last: date, span: Span) -> str:
    """Return `2026-11-20`, or `2026-11-16 to 2026-11-22` for a week or month; the first and last can be shorter."""
    return str(first) if span.unit == DAY else f"{first} to {last}"


def cost_plot(rows: Sequence[Row], span: Span, series: Sequence[Series] = ()) -> CostPlot | None:
    """Return the plot of rows by day, week or month; None if all costs are known and zero."""
    sums: Mapping[Value, Sums] = {row.value: row.sums for row in rows}
    most = max((each.cost_usd or Decimal(0) for each in sums.values()), default=Decimal(0))
    unknown = sum(1 for each in sums.values() if each.unknown_cost_calls)
    if not most and not unknown:
        return None
    firsts = span.firsts()
    lasts = [*(each - timedelta(days=1) for each in firsts[1:]), span.until]
    place = (RIGHT - LEFT) / len(firsts)
    words = {first: days_in_words(first, last, span) for first, last in zip(firsts, lasts, strict=True)}
    bars = tuple(
        _bar(
            LEFT + number * place,
            place,
            sums.get(first, NOTHING),
            most,
            words[first],
            [each.cost(first) for each in series],
        )
        for number, first in enumerate(firsts)
    )
    named = sorted({0, len(firsts) // 2, len(firsts) - 1})
    amounts = (Decimal(0), most / 2, most) if most else (Decimal(0),)
    return CostPlot(
        bars=bars,
        upwards=tuple(Tick(place=BOTTOM - _height(each, most), words=money(each)) for each in amounts),
        across=tuple(Tick(place=bars[number].middle, words=str(firsts[number])) for number in named),
        unknown=unknown,
        legend=tuple(each.name for each in series),
    )


def _height(amount: Decimal, most: Decimal) -> float:
    """Return the height of an amount; any cost above zero is visible."""
    if not amount:
        return 0
    return max(round(float(amount / most) * (BOTTOM - TOP), 1), 1)


def _bar(x: float, place: float, sums: Sums, most: Decimal, days: str, costs: Sequence[Decimal]) -> Bar:
    height = _height(sums.cost_usd or Decimal(0), most)
    top = BOTTOM - height
    return Bar(
        x=round(x + place * (1 - FULL) / 2, 1),
        y=top,
        width=round(place * FULL, 1),
        height=height,
        mark=top - MARK if sums.unknown_cost_calls else None,
        middle=round(x + place / 2, 1),
        says=f"{days}: {total_cost(sums.cost_usd, sums.unknown_cost_calls)}",
        parts=tuple(_parts(costs, top, height)),
    )


def _parts(costs: Sequence[Decimal], top: float, height: float) -> Iterator[Part]:
    """Return the parts of a bar from the bottom, the first series first."""
    total, below = sum(costs), Decimal(0)
    for number, cost in enumerate(costs, 1):
        if cost:
            below += cost
            end = top + height * float(1 - below / total)
            yield Part(series=number, y=round(end, 1), height=round(height * float(cost / total), 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row: its name (None if not recorded), the query that selects it, for this page and for its sessions, and the names and sums
    of the series, if the table has them."""

    row: Row
    name: str | None
    query: str
    parts: Sequence[tuple[str | None, Sums]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A table: its rows, the number and sum of the remaining ones, and the query that shows all. `timed` tells whether it has latencies,
    `series` names the models that have a column of their own."""

    by: str
    title: str
    note: str
    lines: Sequence[Line]
    more: int
    rest: Sums
    timed: bool
    all_query: str = ""
    series: Sequence[str | None] = ()


def groups_of(
    cells: Sequence[Cell],
    tags: Sequence[Row] | None,
    histograms: Histograms | None,
    cost_query: CostQuery,
    whole: str = "",
    series: Sequence[Series] = (),
) -> list[Group]:
    """Return the tables of the page, the days first; without histograms they have no latencies, without rows of tags there is no tag
    table. `whole` names the one that shows all its rows; the days always do, with the cost of each series."""
    rows: dict[str, Sequence[Row]] = {
        "model": figures.by_model(cells),
        "agent": figures.by_agent(cells),
        "tool": figures.by_tool(cells),
        "day": figures.by_days(cells, cost_query.span, cost_query.span.unit),
    }
    timed = {
        by: found if histograms is None else with_latency(found, histograms) for by, found in rows.items()
    }
    if tags is not None:
        timed["tag"] = tags
    return [
        _days(timed[by], cost_query, series, timed=histograms is not None)
        if by == "day"
        else _group(
            by, timed[by], cost_query, SHOWN if by == whole else TOP_ROWS, timed=histograms is not None
        )
        for by in TITLES
        if timed.get(by)
    ]


def query_of(cost_query: CostQuery, **changes: str) -> str:
    """Return the current query string with some values changed."""
    days = {"since": cost_query.span.since.isoformat(), "until": cost_query.span.until.isoformat()}
    parameters = {name: value for name, value in {**days, **cost_query.filters, **changes}.items() if value}
    return "?" + urlencode(parameters, safe=":,", errors="surrogatepass")


def _group(by: str, rows: Sequence[Row], cost_query: CostQuery, most: int, *, timed: bool) -> Group:
    return Group(
        by=by,
        title=TITLES[by],
        note=NOTES.get(by, ""),
        lines=[_line(by, row, cost_query) for row in rows[:most]],
        more=len(rows[most:]),
        rest=summed(row.sums for row in rows[most:]),
        all_query=query_of(cost_query, all=by) if most == TOP_ROWS and len(rows) > most else "",
        timed=timed,
    )


def _days(rows: Sequence[Row], cost_query: CostQuery, series: Sequence[Series], *, timed: bool) -> Group:
    span, series = cost_query.span, series if len(series) > 1 else ()
    return Group(
        by="day",
        title=f"By {span.unit}",
        note=_COARSE_NOTES.get(span.unit, ""),
        lines=[_of_days(row, row.value, cost_query, series) for row in rows if isinstance(row.value, date)],
        more=0,
        rest=NOTHING,
        timed=timed,
        series=[each.name for each in series],
    )


def _of_days(row: Row, first: date, cost_query: CostQuery, series: Sequence[Series]) -> Line:
    last = cost_query.span.last_of(first)
    return Line(
        row=row,
        name=days_in_words(first, last, cost_query.span),
        query=query_of(cost_query, since=str(first), until=str(last)),
        parts=[(each.name, each.sums.get(first, NOTHING)) for each in series],
    )


def _line(by: str, row: Row, cost_query: CostQuery) -> Line:
    if row.value is None:
        return Line(row=row, name=None, query="")
    return Line(row=row, name=str(row.value), query=query_of(cost_query, **{by: str(row.value)}))
