"""Totals of a session, from the counts that triggers maintain; actions are read only for what no count covers."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, Max, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce

from timemachine.core.pure.unknown_prices import by_frequency
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.corrections import CORRECTION, REASON
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import (
    FAILED,
    HAPPENED_HERE,
    IS_CORRECTION,
    UNKNOWN_COST,
    UNKNOWN_COST_CALLS,
)
from timemachine.recording.usage.models import BIN, Bin, FirstUse, Usage
from timemachine.recording.usage.pure.figures import Sums
from timemachine.recording.usage.pure.totals import Totals, fold

CACHED_SESSIONS: Final = 64
"""For how many sessions a process caches the number of steps by kind, and why costs are unknown."""
OF_COUNTS: Final = {
    "steps": Sum("number"),
    "with_time": Sum("timed"),
    "took": Sum("duration_ms"),
    "failed": Sum("errors"),
    "input_sum": Sum("input_tokens"),
    "output_sum": Sum("output_tokens"),
    "cost": Sum("cost_usd"),
    "unknown_cost": Sum("unknown_cost_calls"),
    "from_cache": Sum("cached_calls"),
    "saved": Sum("saved_usd"),
    "unknown_saved": Sum("unknown_saved_calls"),
}
"""What `sums_of` reads, aggregated from rows of `Counted`."""
OF_BINS: Final = OF_COUNTS | {"steps": Sum(F("number") - F("copied"))}
"""The same, aggregated from bins, which also count copies and corrections."""
OF_ACTIONS: Final = {
    "steps": Count("id", filter=~IS_CORRECTION),
    "with_time": Count("duration_ms"),
    "took": Sum("duration_ms"),
    "failed": Count("id", filter=FAILED),
    "input_sum": Sum("input_tokens"),
    "output_sum": Sum("output_tokens"),
    "cost": Sum("cost_usd"),
    "unknown_cost": Sum(UNKNOWN_COST_CALLS, default=0),
    "from_cache": Count("id", filter=Q(cached=True)),
    "saved": Sum("saved_usd", filter=Q(cached=True)),
    "unknown_saved": Count("id", filter=Q(cached=True, saved_usd=None)),
}
"""The same, aggregated from actions that happened here."""
ENDED: Final = ExpressionWrapper(
    F("started_at") + Coalesce(F("duration_ms"), 0.0) * timedelta(milliseconds=1),
    output_field=DateTimeField(),
)
"""When an action ended, None if it has no start."""


def totals_of(actions: QuerySet[Action]) -> Totals:
    """Return the exact totals of those of the actions that are not copies, added up per kind by the database. One query,
    which reads all of them.
    """
    by_kind = actions.filter(HAPPENED_HERE).order_by().values("kind")
    return _sum_by_kind(by_kind.annotate(**OF_ACTIONS, began=Min("started_at"), ended=Max(ENDED)))


def reasons_of(actions: QuerySet[Action]) -> dict[str, int]:
    """Return for each reason why the cost of a call is unknown the number of these calls, the most frequent first, as their
    corrections leave them. One query."""
    rows = (
        actions.filter(UNKNOWN_COST | IS_CORRECTION, HAPPENED_HERE)
        .order_by()
        .annotate(
            change=UNKNOWN_COST_CALLS,
            priced_by=KeyTextTransform("source", "prices"),
            reason=KeyTextTransform(REASON, "prices"),
            before=KeyTextTransform(REASON, KeyTransform(CORRECTION, "prices")),
        )
        .values("change", "priced_by", "reason", "before")
        .annotate(calls=Count("id"))
    )
    return by_frequency(change for row in rows for change in _changes(row))


def _changes(row: Mapping[str, Any]) -> Iterator[tuple[str | None, int]]:
    stays = row["change"] == 0 and row["priced_by"] == "unknown"
    if row["change"] > 0 or stays:
        yield row["reason"], row["calls"]
    if row["change"] < 0 or stays:
        yield row["before"], -row["calls"]


def reasons_in(calls: QuerySet[Action]) -> dict[str, int]:
    """Return the same for calls that are known to have unknown costs, as they were recorded. One query."""
    rows = calls.order_by().annotate(reason=KeyTextTransform(REASON, "prices")).values("reason")
    return by_frequency(rows.annotate(calls=Count("id")).values_list("reason", "calls"))


def reasons_of_session(session: Session) -> Mapping[str, int]:
    """Return `reasons_of` the steps of a session. One query, or none if all costs are known or it has no new steps."""
    unknown = session.unknown_cost_calls
    return _reasons(session.id, session.last_sequence, unknown) if unknown else {}


@lru_cache(maxsize=CACHED_SESSIONS)
def _reasons(session: UUID, last: int, unknown: int) -> Mapping[str, int]:  # noqa: ARG001  # other numbers mean a new count
    return reasons_of(Action.objects.filter(session_id=session))


def totals_through(session: Session, sequence: int) -> Totals:
    """Return the exact totals of the steps up to that one, without copies: the counts of complete bins, and the steps after them. Two queries."""
    whole = sequence // BIN
    binned = Bin.objects.filter(session=session, bin__lt=whole).order_by().values("kind")
    counted = binned.annotate(**OF_BINS, began=Min("first"), ended=Max("last"))
    beyond = Action.objects.filter(session=session, sequence__gt=whole * BIN, sequence__lte=sequence)
    return fold([_sum_by_kind(counted), totals_of(beyond)])


def kinds_of(session: Session) -> Mapping[str, int]:
    """Return how many steps of each kind a session has, with copies and corrections. One query, or none if it has no new steps."""
    return {kind: steps for kind, (steps, _) in _kinds(session.id, session.last_sequence).items()}


def uncounted_kinds_of(session: Session) -> Mapping[str, int]:
    """Return how many of them are copies or corrections, for the kinds that have some. One query, or none if it has no new steps."""
    found = _kinds(session.id, session.last_sequence).items()
    return {kind: uncounted for kind, (_, uncounted) in found if uncounted}


@lru_cache(maxsize=CACHED_SESSIONS)
def _kinds(session: UUID, last: int) -> Mapping[str, tuple[int, int]]:  # noqa: ARG001  # a new last step means a new count
    bins = Bin.objects.filter(session_id=session).order_by().values("kind")
    found = bins.annotate(steps=Sum("number"), uncounted=Sum("copied"))
    return {row["kind"]: (row["steps"], row["uncounted"]) for row in found}


def models_of(sessions: Collection[Session]) -> list[str]:
    """Return the recorded models of some sessions, in alphabetical order."""
    used = Usage.objects.filter(session__in=sessions).values_list("model", flat=True).distinct()
    return sorted(filter(None, used))


def frames_used_through(session: Session, sequence: int, most: int) -> list[FirstUse]:
    """Return the first frame versions that the steps up to that one returned, in the order of first use. One query."""
    used = FirstUse.objects.filter(session=session, sequence__lte=sequence)
    return list(used.order_by("sequence", "rank")[:most])


def frames_first_used(session: Session, after: int, through: int) -> QuerySet[FirstUse]:
    """Return the frame versions first returned after step `after` and up to step `through`, the latest first."""
    used = FirstUse.objects.filter(session=session, sequence__gt=after, sequence__lte=through)
    return used.order_by("-sequence", "-rank")


def sums_of(row: Mapping[str, Any]) -> Sums:
    """Return the sums of a row of aggregates: `OF_COUNTS` or `OF_ACTIONS`, and `calls` and `tool_calls` if it has them."""
    return Sums(
        **_counts(row),
        steps=row["steps"],
        timed=row["with_time"],
        duration_ms=row["took"] or 0.0,
        calls=row.get("calls") or 0,
        tool_calls=row.get("tool_calls") or 0,
    )


def _sum_by_kind(rows: Iterable[Any]) -> Totals:
    return fold(_totals(row) for row in sorted(rows, key=lambda row: KINDS.index(row["kind"])))


def _totals(row: Any) -> Totals:
    kinds = {row["kind"]: row["steps"]} if row["steps"] else {}
    return Totals(**_counts(row), kinds=kinds, first=row["began"], last=row["ended"])


def _counts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what every sum of actions has; Django reads a sum of whole numbers as an int."""
    return {
        "errors": row["failed"],
        "input_tokens": row["input_sum"],
        "output_tokens": row["output_sum"],
        "cost_usd": row["cost"],
        "unknown_cost_calls": row["unknown_cost"],
        "cached_calls": row["from_cache"],
        "saved_usd": row["saved"],
        "unknown_saved_calls": row["unknown_saved"],
    }
