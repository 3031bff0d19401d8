"""The stored counts of a session: each row must follow from its steps.

Pages add these rows up by kind, model, tool, agent, day and part of the timeline, so every row is compared.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, Final

from django.db.models import Count, Exists, F, Func, IntegerField, Max, Min, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Coalesce, TruncDate

from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.sealing.session_values import Report, shown
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE, IS_CORRECTION
from timemachine.recording.timeline.pure.nesting import FOLDING, REACH
from timemachine.recording.usage.models import BIN, Bin, FirstUse, Latency, Usage
from timemachine.recording.usage.queries import ENDED, OF_ACTIONS

Rows = Mapping[tuple[Any, ...], Mapping[str, Any]]
"""The columns of each row by what identifies it."""
_COLUMNS: Final = {
    "number": "steps",
    "errors": "failed",
    "timed": "with_time",
    "duration_ms": "took",
    "input_tokens": "input_sum",
    "output_tokens": "output_sum",
    "cost_usd": "cost",
    "unknown_cost_calls": "unknown_cost",
    "cached_calls": "from_cache",
    "saved_usd": "saved",
    "unknown_saved_calls": "unknown_saved",
}
"""The columns of stored counts, and their names in `OF_ACTIONS`."""
_USAGE: Final = ("day", "kind", "agent", "model", "tool")
_LEFT_BY_ERASURES: Final = frozenset({"errors", "unknown_cost_calls", "folded"})
"""What an erasure can change in the steps and leaves as it is in the counts along the timeline."""
_NO_SUMS: Final = frozenset({"first", "last", "title", "sequence", "rank"})
_BUCKET: Final = "floor(ln(greatest(%(expressions)s, 0.001)) / ln(1.05))::smallint"
"""As `tm_count_usage` computes it."""


def compare_counts(session: Session, report: Report, *, erased: bool) -> None:
    """Report each stored row that differs from what the steps add up to. Nine queries, four of which read all steps."""
    usage = {
        key: dict(row)
        for key, row in _rows(Usage.objects.filter(session=session), _USAGE, (*_COLUMNS, "key")).items()
    }
    keys = {row.pop("key"): key for key, row in usage.items()}
    _compare("The counts by day, kind, agent, model and tool", usage, _usage_of_steps(session), report)
    stored = _rows(Latency.objects.filter(session=session), ("key", "bucket"), ("number",))
    latencies = {(*keys.get(key, (str(key),)), bucket): row for (key, bucket), row in stored.items()}
    _compare("The counts of durations", latencies, _latencies_of_steps(session), report)
    bins = _bins_of_steps(session)
    left = _LEFT_BY_ERASURES if erased else frozenset()
    columns = [name for name in next(iter(bins.values()), {}) if name not in left]
    found = _rows(Bin.objects.filter(session=session), ("bin", "kind"), columns)
    _compare("The counts along the timeline", found, _only(bins, columns), report)
    used = _first_uses(FirstUse.objects.filter(session=session), "sequence", "rank")
    _compare("The first use of a passage", used, _first_uses_of_steps(session), report)


def _rows(rows: QuerySet[Any], key: tuple[str, ...], columns: Any) -> Rows:
    found = rows.order_by().values(*key, *columns)
    return {tuple(row[name] for name in key): {name: row[name] for name in columns} for row in found}


def _only(rows: Rows, columns: list[str]) -> Rows:
    return {key: {name: row[name] for name in columns} for key, row in rows.items()}


def _happened(session: Session) -> QuerySet[Any]:
    return Action.objects.filter(HAPPENED_HERE, session=session).order_by()


def _counted(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[of] for name, of in _COLUMNS.items()} | {"duration_ms": row["took"] or 0.0}


def _by_usage(session: Session) -> QuerySet[Any]:
    whose = Coalesce("agent", Value(session.agent, output_field=FaithfulTextField()))
    at = F("started_at") if session.imported_as else Coalesce("started_at", "recorded_at")
    day = TruncDate(at, tzinfo=UTC)
    found: QuerySet[Any] = _happened(session).annotate(day=day, whose=whose)
    return found


def _key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row["whose" if name == "agent" else name] for name in _USAGE)


def _usage_of_steps(session: Session) -> Rows:
    rows = _by_usage(session).values("day", "kind", "whose", "model", "tool").annotate(**OF_ACTIONS)
    return {_key_of(row): _counted(row) for row in rows}


def _latencies_of_steps(session: Session) -> Rows:
    bucket = Func(F("duration_ms"), template=_BUCKET, output_field=IntegerField())
    timed = _by_usage(session).filter(duration_ms__isnull=False).annotate(bucket=bucket)
    rows = timed.values("day", "kind", "whose", "model", "tool", "bucket").annotate(number=Count("id"))
    return {(*_key_of(row), row["bucket"]): {"number": row["number"]} for row in rows}


def _bins_of_steps(session: Session) -> Rows:
    above = Action.objects.filter(
        session=session,
        kind__in=FOLDING,
        sequence__gte=OuterRef("sequence") - REACH,
        sequence__lt=OuterRef("sequence"),
    )
    is_folded = Exists(above.filter(sequence=OuterRef("parent_sequence"))) | Exists(
        above.filter(client_id=OuterRef("parent_id_given"))
    )
    place = Cast((F("sequence") - 1) / BIN, IntegerField())
    steps = Action.objects.filter(session=session).order_by().annotate(bin=place, is_folded=is_folded)
    every = steps.values("bin", "kind").annotate(
        number=Count("id"),
        copied=Count("id", filter=~HAPPENED_HERE | IS_CORRECTION),
        folded=Count("id", filter=Q(is_folded=True)),
    )
    times = {"began": Min("started_at"), "over": Max(ENDED)}
    happened = _happened(session).annotate(bin=place).values("bin", "kind").annotate(**OF_ACTIONS, **times)
    here = {(row["bin"], row["kind"]): row for row in happened}
    nothing = dict.fromkeys((*OF_ACTIONS, *times)) | dict.fromkeys(
        ("failed", "with_time", "unknown_cost", "from_cache", "unknown_saved"), 0
    )
    found = {}
    for row in every:
        key = (row["bin"], row["kind"])
        own = here.get(key, nothing)
        more = {name: row[name] for name in ("number", "copied", "folded")}
        found[key] = _counted(own) | more | {"first": own["began"], "last": own["over"]}
    return found


def _first_uses_of_steps(session: Session) -> Rows:
    hits = Hit.objects.filter(action__session=session, frame__isnull=False)
    first = hits.order_by("frame", "version", "action__sequence", "rank").distinct("frame", "version")
    return _first_uses(first, "action__sequence", "rank")


def _first_uses(rows: QuerySet[Any], *place: str) -> Rows:
    found = rows.values_list("frame", "version", "title", *place)
    return {
        (canonical_json(frame).decode(), version): {"title": title, "sequence": sequence, "rank": rank}
        for frame, version, title, sequence, rank in found
    }


def _compare(what: str, here: Rows, right: Rows, report: Report) -> None:
    for key in sorted({*here, *right}, key=str):
        for says in _differences(here.get(key), right.get(key)):
            named = ", ".join("none" if each is None else str(each) for each in key)
            report("total", f"{what} ({named}): {says}")


def _differences(here: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> Iterator[str]:
    if here is None or right is None:
        yield "a row is missing." if here is None else "there is a row that no step explains."
        return
    for name, value in right.items():
        if not _is_same(here[name], value):
            must = "It must be" if name in _NO_SUMS else "Its steps add up to"
            yield f"{name} is {shown(here[name])}. {must} {shown(value)}."


def _is_same(here: Any, right: Any) -> bool:
    if isinstance(here, float) and isinstance(right, float):
        return math.isclose(here, right, rel_tol=1e-9, abs_tol=1e-9)
    return bool(here == right)
