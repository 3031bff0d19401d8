"""Totals of a filter's steps by kind, tool, model or agent: from stored counts if these are exact, else from the steps."""

from collections.abc import Iterable
from typing import Any, Final

from django.db.models import Count, Q, Sum

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.unknown_cost import CALLS
from timemachine.recording.sessions.queries import FAILED
from timemachine.recording.sessions.unknown_costs import UNKNOWN_COST
from timemachine.recording.timeline.filter_sql import like, matching
from timemachine.recording.timeline.pure.aggregation import GROUPS, BottomUp, Sums, bottom_up
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter, Named
from timemachine.recording.usage.models import Usage

COUNTED: Final = ("kind", "tool", "model", "agent")
_IS_CALL: Final = Q(model__isnull=False) | Q(kind__in=CALLS)
_IS_TOOL_CALL: Final = Q(kind="tool_call")


def totals_by(session: Session, by: str, shown: Filter = EVERYTHING) -> BottomUp:
    """Return the totals of the steps that a filter shows, by one of `GROUPS`. One query. Raises `InvalidInput` for any
    other group.

    A step without an agent belongs to its session's agent.
    """
    if by not in GROUPS:
        raise InvalidInput(
            f"Totals cannot be grouped by {by[:40]!r}. Use one of: {', '.join(GROUPS)}.",
            code="invalid_field",
            field="by",
        )
    rows = _from_counts(session, by, shown) if _has_counts(shown) else _from_actions(session, by, shown)
    return bottom_up(by, ((_value(session, by, row[by]), _sums(row)) for row in rows))


def _has_counts(shown: Filter) -> bool:
    """Return whether the counts by kind, tool, model and agent are enough for a filter."""
    named = all(isinstance(term, Named) and term.field in COUNTED for term in shown.terms)
    return named and shown.status is None and shown.steps is None


def _from_counts(session: Session, by: str, shown: Filter) -> Iterable[Any]:
    found = Usage.objects.filter(session=session).order_by()
    if shown.kinds:
        found = found.filter(kind__in=shown.kinds)
    for term in shown.terms:
        if isinstance(term, Named):
            means = Q.create([like(term.field, value) for value in term.values], connector=Q.OR)
            found = found.filter(~means if term.negated else means)
    rows: Iterable[Any] = found.values(by).annotate(
        steps=Sum("number"),
        with_time=Sum("timed"),
        took=Sum("duration_ms"),
        model_calls=Sum("number", filter=_IS_CALL),
        of_tools=Sum("number", filter=_IS_TOOL_CALL),
        failed=Sum("errors"),
        input_sum=Sum("input_tokens"),
        output_sum=Sum("output_tokens"),
        cost=Sum("cost_usd"),
        unknown_cost=Sum("unknown_cost_calls"),
    )
    return rows


def _from_actions(session: Session, by: str, shown: Filter) -> Iterable[Any]:
    steps = Action.objects.filter(matching(shown), session=session).order_by()
    rows: Iterable[Any] = steps.values(by).annotate(
        steps=Count("id"),
        with_time=Count("duration_ms"),
        took=Sum("duration_ms"),
        model_calls=Count("id", filter=_IS_CALL),
        of_tools=Count("id", filter=_IS_TOOL_CALL),
        failed=Count("id", filter=FAILED),
        input_sum=Sum("input_tokens"),
        output_sum=Sum("output_tokens"),
        cost=Sum("cost_usd"),
        unknown_cost=Count("id", filter=UNKNOWN_COST),
    )
    return rows


def _value(session: Session, by: str, recorded: str | None) -> str | None:
    return session.agent if by == "agent" and recorded is None else recorded


def _sums(row: Any) -> Sums:
    return Sums(
        steps=int(row["steps"]),
        timed=int(row["with_time"]),
        duration_ms=float(row["took"] or 0),
        calls=int(row["model_calls"] or 0),
        tool_calls=int(row["of_tools"] or 0),
        errors=int(row["failed"]),
        input_tokens=_whole(row["input_sum"]),
        output_tokens=_whole(row["output_sum"]),
        cost_usd=row["cost"],
        unknown_cost_calls=int(row["unknown_cost"]),
    )


def _whole(number: Any) -> int | None:
    """Return a sum of whole numbers as an int."""
    return None if number is None else int(number)
