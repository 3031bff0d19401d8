"""The totals of a session, and those of a filter's steps by kind, tool, model or agent: from stored counts if these are
exact, else from the steps. Copied steps are in no total."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.db.models import Count, Max, Q, QuerySet, Sum

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE, IS_CORRECTION, IS_MODEL_CALL
from timemachine.recording.timeline.copies import uncounted_in
from timemachine.recording.timeline.filter_sql import like, matching
from timemachine.recording.timeline.pure.aggregation import GROUPS, BottomUp, bottom_up
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter, Named
from timemachine.recording.timeline.schemas.overview import SessionTotals
from timemachine.recording.usage.models import Usage
from timemachine.recording.usage.queries import OF_ACTIONS, OF_COUNTS, reasons_of_session, sums_of, totals_of

_IS_TOOL_CALL: Final = Q(kind="tool_call")


def summary_of(session: Session) -> SessionTotals:
    """Return the totals of the session. Six queries, up to two more if costs are unknown or steps were copied."""
    uncounted = uncounted_in(session)
    actions = Action.objects.filter(HAPPENED_HERE, session=session)
    totals = totals_of(actions)
    more = actions.aggregate(
        iterations=Max("iteration"), cached=Sum("cached_tokens"), took=Sum("duration_ms")
    )
    return SessionTotals.from_attributes(
        totals,
        session=session.id,
        copied_actions=uncounted.copied,
        corrections=uncounted.corrections,
        unknown_reasons=dict(reasons_of_session(session)),
        cached_tokens=more["cached"],
        started_at=session.began_at,
        ended_at=session.ended_at,
        duration_ms=session.duration_ms,
        first_step_at=session.first_step_at,
        last_step_ended_at=session.last_step_ended_at,
        steps_ms=more["took"],
        max_iteration=more["iterations"],
        tools=_counted(actions, "tool"),
        models=_counted(actions, "model"),
    )


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
    unnamed = session.agent if by == "agent" else None
    return bottom_up(by, ((unnamed if row[by] is None else row[by], sums_of(row)) for row in rows))


def _has_counts(shown: Filter) -> bool:
    """Return whether the counts by kind, tool, model and agent are enough for a filter."""
    named = all(isinstance(term, Named) and term.field in GROUPS for term in shown.terms)
    return named and shown.status is None and shown.steps is None


def _from_counts(session: Session, by: str, shown: Filter) -> Iterable[Mapping[str, Any]]:
    found = Usage.objects.filter(session=session).order_by()
    if shown.kinds:
        found = found.filter(kind__in=shown.kinds)
    for term in shown.terms:
        if isinstance(term, Named):
            means = Q.create([like(term.field, value) for value in term.values], connector=Q.OR)
            found = found.filter(~means if term.negated else means)
    rows: Iterable[Mapping[str, Any]] = found.values(by).annotate(
        **OF_COUNTS,
        calls=Sum("number", filter=IS_MODEL_CALL),
        tool_calls=Sum("number", filter=_IS_TOOL_CALL),
    )
    return rows


def _from_actions(session: Session, by: str, shown: Filter) -> Iterable[Mapping[str, Any]]:
    steps = Action.objects.filter(matching(shown), HAPPENED_HERE, session=session).order_by()
    rows: Iterable[Mapping[str, Any]] = steps.values(by).annotate(
        **OF_ACTIONS,
        calls=Count("id", filter=IS_MODEL_CALL & ~IS_CORRECTION),
        tool_calls=Count("id", filter=_IS_TOOL_CALL),
    )
    return rows


def _counted(actions: QuerySet[Action], field: str) -> dict[str, int]:
    named = actions.filter(~IS_CORRECTION, **{f"{field}__isnull": False})
    if field == "tool":
        named = named.filter(kind="tool_call")
    return dict(named.order_by(field).values_list(field).annotate(Count("id")))
