"""The cost of attempts at steps, counted the same way for replays, suites and comparisons."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Case, Count, F, Max, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.unknown_prices import by_frequency
from timemachine.replay.runs.models import ReplayAttempt

INTENDED: Final = Q(call_intended_at__isnull=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The known cost in US dollars, and the calls that it leaves out.

    `unknown_calls` were made at an unknown price. `uncertain_calls` are attempts whose worker was lost when a
    call was about to be made; they may have been billed. `finished` counts the finished attempts; `last` is when
    the last of them finished.
    """

    cost_usd: Decimal = Decimal(0)
    unknown_calls: int = 0
    uncertain_calls: int = 0
    finished: int = 0
    last: datetime | None = None


NO_SPENDING: Final = Spending()


def spending_by(owner: str, attempts: QuerySet[ReplayAttempt]) -> dict[Any, Spending]:
    """Return what the attempts cost for each value of the `owner` column, lost attempts included. One query."""
    rows = (
        attempts.order_by()
        .values_list(owner)
        .annotate(
            cost=Sum("cost_usd", default=Decimal(0)),
            unknown=Sum("calls_made", filter=Q(cost_usd=None), default=0),
            uncertain=Count("id", filter=INTENDED & Q(calls_made=None) & ~under_way()),
            finished=Count("finished_at"),
            last=Max("finished_at"),
        )
    )
    return {
        each: Spending(
            cost_usd=cost,
            unknown_calls=unknown,
            uncertain_calls=uncertain,
            finished=finished,
            last=last,
        )
        for each, cost, unknown, uncertain, finished, last in rows
    }


def unknown_reasons(attempts: QuerySet[ReplayAttempt]) -> dict[str, int]:
    """Return for each reason why a cost is unknown the number of calls, as `spending_by` counts them. One query."""
    failed = Q(outcome__in=("failed", "cancelled"))
    of_step = KeyTextTransform("reason", "step__prices")
    rows = (
        attempts.filter(cost_usd=None, calls_made__gt=0)
        .order_by()
        .annotate(
            reason=Case(When(failed, then=Value("call_failed")), default=of_step, output_field=TextField())
        )
        .values("reason")
        .annotate(calls=Sum("calls_made"))
    )
    return by_frequency(rows.values_list("reason", "calls"))


def under_way() -> Q:
    """Return a filter for the attempts whose call is running, made by a worker that holds the step's lease."""
    held = Q(step__status="running", step__lease_token=F("lease_token"), step__lease_until__gte=now())
    return INTENDED & Q(finished_at=None) & held


def replay_spending(project: Project, since: date, until: date) -> Spending:
    """Return what the replays of a project cost on these days (UTC), by the start of each attempt. One query."""
    attempts = attempts_of_days(project, since, until)
    return spending_by("step__replay__project_id", attempts).get(project.pk, NO_SPENDING)


def attempts_of_days(project: Project, since: date, until: date) -> QuerySet[ReplayAttempt]:
    """Return the attempts of a project that started on these days (UTC), with the calls of continuations."""
    begin, end = (datetime.combine(day, time.min, UTC) for day in (since, until))
    return ReplayAttempt.objects.filter(
        step__replay__project=project, started_at__gte=begin, started_at__lt=end + timedelta(days=1)
    )
