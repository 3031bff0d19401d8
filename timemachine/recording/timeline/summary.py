"""The totals of a session: counts, tokens, cost, duration, tools, models, errors, all computed from its actions."""

from datetime import timedelta
from typing import cast

from django.db.models import Count, Max, QuerySet, Sum

from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import Kind
from timemachine.recording.timeline.schemas.overview import SessionTotals
from timemachine.recording.usage.queries import totals_of


def summary_of(session: Session) -> SessionTotals:
    """Return the totals of the session. Five queries."""
    actions = Action.objects.filter(session=session)
    totals = totals_of(actions)
    more = actions.aggregate(iterations=Max("iteration"), cached=Sum("cached_tokens"))
    return SessionTotals.model_construct(
        session=str(session.id),
        actions=totals.actions,
        kinds=cast("dict[Kind, int]", dict(totals.kinds)),
        errors=totals.errors,
        input_tokens=totals.input_tokens,
        output_tokens=totals.output_tokens,
        cached_tokens=more["cached"],
        cost_usd=dollars(totals.cost_usd),
        unknown_cost_calls=totals.unknown_cost_calls,
        cached_calls=totals.cached_calls,
        saved_usd=dollars(totals.saved_usd),
        unknown_saved_calls=totals.unknown_saved_calls,
        started_at=written(session.began_at),
        ended_at=written(session.ended_at),
        duration_ms=_took(session),
        first_step_at=written(totals.first),
        last_step_ended_at=written(totals.last),
        steps_ms=totals.elapsed_ms,
        max_iteration=more["iterations"],
        tools=_counted(actions, "tool"),
        models=_counted(actions, "model"),
    )


def _took(session: Session) -> float | None:
    """Return the time from the session's start to its end; None while it is recording, or if one is not recorded."""
    if session.began_at is None or session.ended_at is None:
        return None
    return (session.ended_at - session.began_at) / timedelta(milliseconds=1)


def _counted(actions: QuerySet[Action], field: str) -> dict[str, int]:
    named = actions.filter(**{f"{field}__isnull": False})
    if field == "tool":
        named = named.filter(kind="tool_call")
    return dict(named.order_by(field).values_list(field).annotate(Count("id")))
