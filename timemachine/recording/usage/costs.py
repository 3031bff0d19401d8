"""Costs of recorded work, read from the counts that triggers maintain. Only the reasons of unknown costs are read from
actions. The branch of a continuation is not recorded work: it is a replay, and `replay.runs.costs` has what it cost."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date
from typing import Any, Final

from django.db.models import Count, F, Func, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.vocabulary import is_model_call
from timemachine.recording.sessions.queries import IS_MODEL_CALL, continuations_of
from timemachine.recording.usage.models import LATENCY_STEP, Latency, Usage
from timemachine.recording.usage.pure import figures
from timemachine.recording.usage.pure.figures import TOOL_CALL, Cell, Row, Sums, dearest_first
from timemachine.recording.usage.pure.latency import Latency as CallLatency
from timemachine.recording.usage.pure.latency import latency_of, merge_histograms
from timemachine.recording.usage.pure.span import Span
from timemachine.recording.usage.queries import OF_COUNTS, reasons_of, sums_of

type Histograms = Mapping[Any, Counter[int]]


GROUPS: Final = ("agent", "model", "tag", "day", "tool")
_BY_VALUE: Final[Mapping[str, Callable[[Iterable[Cell]], list[Row]]]] = {
    "agent": figures.by_agent,
    "model": figures.by_model,
    "tool": figures.by_tool,
}


class _Unnested(Func):
    """One row for each item of an array."""

    function = "unnest"
    set_returning = True
    output_field = FaithfulTextField()


_TAG: Final = _Unnested(F("session__tags"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CostQuery:
    """Selects steps: of these days, this agent, model and tool, and of sessions with this tag. An empty text means any."""

    span: Span
    agent: str = ""
    model: str = ""
    tag: str = ""
    tool: str = ""

    @property
    def filters(self) -> dict[str, str]:
        """The conditions other than the days."""
        return {name: value for name, value in asdict(self).items() if name != "span" and value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Number of sessions, sums and latency of all model calls, the rows of one group, and for each reason why a cost is
    unknown the number of calls. `undated` is in none of them: imported work without times."""

    sessions: int
    sums: Sums
    undated: Sums
    unknown_reasons: Mapping[str, int]
    latency: CallLatency
    rows: Sequence[Row]


def costs(project: Project, query: CostQuery, by: str) -> Costs:
    """Return all numbers, grouped by one of `GROUPS`. Four queries, six by tag, and one if costs are unknown. Raises `InvalidInput` for any other group."""
    if by not in GROUPS:
        raise InvalidInput(
            f"Costs cannot be grouped by {by[:40]!r}. Use one of: {', '.join(GROUPS)}.",
            code="invalid_field",
            field="by",
        )
    cells = cells_of(project, query)
    histograms = histograms_of(project, query)
    if by == "tag":
        rows = with_latency(by_tag(project, query), histograms_by_tag(project, query))
    elif by == "day":
        rows = with_latency(figures.by_days(cells, query.span), histograms)
    else:
        rows = with_latency(_BY_VALUE[by](cells), histograms)
    sums = figures.summed(cell.sums for cell in cells)
    return Costs(
        sessions=sessions_in(project, query),
        sums=sums,
        undated=undated(project, query),
        unknown_reasons=unknown_reasons(project, query) if sums.unknown_cost_calls else {},
        latency=latency_of_calls(cells, histograms),
        rows=rows,
    )


def latency_of_calls(cells: Sequence[Cell], histograms: Histograms) -> CallLatency:
    """Return the latency of all model calls."""
    keys = {cell.key for cell in cells if cell.is_call}
    return latency_of(merge_histograms(histograms[key] for key in keys if key in histograms), LATENCY_STEP)


def cells_of(project: Project, query: CostQuery) -> list[Cell]:
    """Return the recorded work as cells. One query."""
    rows = (
        _usages(project, query)
        .values("key")
        .annotate(
            **OF_COUNTS,
            sessions=Count("session"),
            # all rows with a key have the same ones; PostgreSQL 15 has no ANY_VALUE
            **{f"its_{name}": Min(name) for name in ("day", "kind", "agent", "model", "tool")},
        )
    )
    return [_cell(row) for row in rows]


def sessions_in(project: Project, query: CostQuery) -> int:
    """Return the number of sessions that recorded any of it. One query."""
    return _usages(project, query).values("session").distinct().count()


def before(project: Project, query: CostQuery) -> tuple[int, date | None]:
    """Return the number of sessions with steps before the days of the query, and the first day of these steps. One query."""
    earlier = _matching(project, query, Q(day__lt=query.span.since))
    found = earlier.aggregate(sessions=Count("session", distinct=True), first=Min("day"))
    return found["sessions"], found["first"]


def unknown_reasons(project: Project, query: CostQuery) -> dict[str, int]:
    """Return for each reason why a cost is unknown the number of calls, the most frequent first. One query, which reads
    the actions of the sessions that have such calls."""
    sessions = _usages(project, query).filter(unknown_cost_calls__gt=0).values("session")
    conditions = query.filters
    conditions.pop("tag", None)
    agent = conditions.pop("agent", None)
    day = TruncDate(Coalesce("started_at", "recorded_at"), tzinfo=UTC)
    has_day = Q(started_at__isnull=False) | Q(session__imported_as=None)
    found = Action.objects.filter(has_day, session__in=sessions, **conditions).annotate(day=day)
    found = found.filter(day__gte=query.span.since, day__lte=query.span.until)
    if agent:
        found = found.filter(Q(agent=agent) | Q(agent=None, session__agent=agent))
    return reasons_of(found)


def undated(project: Project, query: CostQuery) -> Sums:
    """Return the sums of the imported work without times, which is on no day. One query."""
    found = _matching(project, query, Q(day=None)).values("project")
    rows = found.annotate(**OF_COUNTS, calls=Sum("number", filter=IS_MODEL_CALL, default=0))
    return figures.summed(map(sums_of, rows))


def by_tag(project: Project, query: CostQuery) -> list[Row]:
    """Return a row for each tag of the sessions, the most expensive first. A session with several tags counts under
    each. One query."""
    rows = (
        _usages(project, query)
        .annotate(tag=_TAG)
        .values("tag")
        .annotate(
            **OF_COUNTS,
            calls=Sum("number", filter=IS_MODEL_CALL, default=0),
            tool_calls=Sum("number", filter=Q(kind=TOOL_CALL), default=0),
        )
    )
    return dearest_first(Row(value=row["tag"], sums=sums_of(row)) for row in rows)


def histograms_of(project: Project, query: CostQuery) -> Histograms:
    """Return, for each cell's key, the number of calls per latency bucket. One query, which reads much: see `docs/costs.md`."""
    return _histograms(_latencies(project, query, IS_MODEL_CALL | Q(kind=TOOL_CALL)), "key")


def histograms_by_tag(project: Project, query: CostQuery) -> Histograms:
    """Return, for each tag, the number of model calls per latency bucket. One query, which reads as much."""
    return _histograms(_latencies(project, query, IS_MODEL_CALL).annotate(tag=_TAG), "tag")


def with_latency(rows: Iterable[Row], histograms: Histograms) -> list[Row]:
    """Return the rows with the latency of their calls, looked up by the keys of their cells or by their own value."""
    found = []
    for row in rows:
        keys = row.cells or {row.value}
        merged = merge_histograms(histograms[key] for key in keys if key in histograms)
        found.append(replace(row, latency=latency_of(merged, LATENCY_STEP)))
    return found


def records_anything(project: Project) -> bool:
    """Return whether the project has ever recorded a step. One query."""
    return Usage.objects.filter(project=project).exists()


def _usages(project: Project, query: CostQuery) -> QuerySet[Usage]:
    return _matching(project, query, Q(day__range=(query.span.since, query.span.until)))


def _matching(project: Project, query: CostQuery, days: Q) -> QuerySet[Usage]:
    found = Usage.objects.filter(days, project=project).exclude(session__in=continuations_of(project))
    conditions = query.filters
    if tag := conditions.pop("tag", None):
        found = found.filter(session__tags__contains=[tag])
    return found.filter(**conditions).order_by()


def _latencies(project: Project, query: CostQuery, which: Q) -> QuerySet[Latency]:
    """A key stands for everything in the filter but the tag, so keys are looked up without their sessions."""
    keys = _usages(project, replace(query, tag="")).filter(which).values("key").distinct()
    found = Latency.objects.filter(session__project=project, key__in=keys).order_by()
    found = found.filter(session__continues__isnull=True)
    return found.filter(session__tags__contains=[query.tag]) if query.tag else found


def _histograms(rows: QuerySet[Latency], of: str) -> Histograms:
    found: dict[Any, Counter[int]] = {}
    for each, bucket, number in rows.values_list(of, "bucket").annotate(times=Sum("number")):
        found.setdefault(each, Counter())[bucket] = int(number)
    return found


def _cell(row: Any) -> Cell:
    is_call = is_model_call(row["its_kind"], row["its_model"])
    steps = int(row["steps"])
    calls, tool_calls = steps if is_call else 0, steps if row["its_kind"] == TOOL_CALL else 0
    return Cell(
        key=row["key"],
        sessions=row["sessions"],
        day=row["its_day"],
        kind=row["its_kind"],
        agent=row["its_agent"],
        model=row["its_model"],
        tool=row["its_tool"],
        sums=replace(sums_of(row), calls=calls, tool_calls=tool_calls),
    )
