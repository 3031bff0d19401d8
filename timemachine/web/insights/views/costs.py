"""Costs of recorded work: totals, per day, and by model, agent, tag and tool."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.replica import read_from_replica
from timemachine.recording.usage import costs as queries
from timemachine.recording.usage.costs import CostQuery, latency_of_calls
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import Cell
from timemachine.recording.usage.pure.span import YEAR, Span, default_span, span_of
from timemachine.replay.runs.costs import attempts_of_days, replay_spending, unknown_reasons
from timemachine.web.access import Access, get_view
from timemachine.web.errors import page_message
from timemachine.web.http import page
from timemachine.web.insights.presenters.cost_plot import cost_plot, groups_of, query_of
from timemachine.web.insights.presenters.cost_stack import series_of

FILTERS: Final = ("agent", "model", "tag", "tool")
LABELS: Final = {"since": "From", "until": "to"}
NAMES: Final = ("since", "until", *FILTERS, "latency", "all")
AT_ONCE: Final = 5_000
"""Up to this number of counts, latencies and tags are computed with the page; beyond it on request."""
SPANS: Final = (7, 30, 90, YEAR)


@get_view()
@read_from_replica
def costs(request: HttpRequest, access: Access) -> HttpResponse:
    """`/costs/`: the costs from `since` to `until`; `agent`, `model`, `tag` and `tool` filter, `latency=on` computes latencies and tags immediately,
    `all` names the table with all rows."""
    here = {name: request.GET[name].strip() for name in NAMES if request.GET.get(name, "").strip()}
    span, wrong = _span(here)
    cost_query = CostQuery(span=span, **{name: here.get(name, "") for name in FILTERS})
    cells = queries.cells_of(access.project, cost_query)
    context: dict[str, object] = {
        "here": here,
        "wanted": cost_query,
        "filters": [
            (name, value, query_of(cost_query, **{name: ""})) for name, value in cost_query.filters.items()
        ],
        "span": span,
        "wrong": wrong,
        "spans": _spans(cost_query),
        "may_record": access.may(OPERATOR),
        "earlier": _earlier(access.project, cost_query),
        "undated": queries.undated(access.project, cost_query),
    }
    if cells:
        context |= _figures(access.project, cost_query, cells, here)
    else:
        context["recorded"] = queries.records_anything(access.project)
    return page(request, "costs/costs.html", context, parts=("groups",), status=422 if wrong else 200)


def _figures(
    project: Project, cost_query: CostQuery, cells: Sequence[Cell], here: Mapping[str, str]
) -> dict[str, object]:
    """Return the data of the page; for large amounts, latencies and tags only on request."""
    counts = sum(cell.sessions for cell in cells)
    whole = here.get("latency") == "on" or counts <= AT_ONCE
    histograms = queries.histograms_of(project, cost_query) if whole else None
    days = figures.by_days(cells, cost_query.span, cost_query.span.unit)
    series = series_of(cells, cost_query.span)
    tags = queries.by_tag(project, cost_query) if whole else None
    if tags:
        tags = queries.with_latency(tags, queries.histograms_by_tag(project, cost_query))
    sums = figures.summed(cell.sums for cell in cells)
    span = (cost_query.span.since, cost_query.span.until)
    replays = None if cost_query.filters else replay_spending(project, *span)
    return {
        "sums": sums,
        "unknown_reasons": queries.unknown_reasons(project, cost_query) if sums.unknown_cost_calls else {},
        "unknown_sessions": reverse("sessions") + _unknown_sessions(cost_query),
        "sessions": queries.sessions_in(project, cost_query),
        "latency": None if histograms is None else latency_of_calls(cells, histograms),
        "plot": cost_plot(days, cost_query.span, series),
        "unit": cost_query.span.unit,
        "groups": groups_of(cells, tags, histograms, cost_query, here.get("all", ""), series),
        "whole": whole,
        "replays": replays,
        "replay_reasons": unknown_reasons(attempts_of_days(project, *span))
        if replays and replays.unknown_calls
        else {},
    }


def _earlier(project: Project, cost_query: CostQuery) -> dict[str, object] | None:
    """Return how many sessions have steps before these days, with the days that show them; None without such sessions."""
    sessions, first = queries.before(project, cost_query)
    if first is None:
        return None
    days = cost_query.span.widened(first)
    return {
        "sessions": sessions,
        "days": days,
        "query": query_of(cost_query, since=str(days.since), until=str(days.until)),
    }


def _unknown_sessions(cost_query: CostQuery) -> str:
    """Return the query of the session list for the sessions with steps of unknown cost among those that the page adds up."""
    days = {"steps_since": str(cost_query.span.since), "steps_until": str(cost_query.span.until)}
    return query_of(cost_query, since="", until="", **days, cost="unknown")


def _span(here: Mapping[str, str]) -> tuple[Span, dict[str, str]]:
    """Return the requested days, or the default ones with the errors by field."""
    today = now().date()
    try:
        return span_of(here.get("since", ""), here.get("until", ""), today), {}
    except InvalidInput as why:
        return default_span(today), {why.facts["field"]: page_message(why, LABELS)}


def _spans(cost_query: CostQuery) -> list[tuple[str, str, bool]]:
    """Return the choices of days up to today: label, query, and whether selected."""
    today = now().date()
    found = []
    for number in SPANS:
        since = today - timedelta(days=number - 1)
        shown = cost_query.span == Span(since=since, until=today)
        words = "A year" if number == YEAR else f"{number} days"
        found.append((words, query_of(cost_query, since=str(since), until=str(today)), shown))
    return found
