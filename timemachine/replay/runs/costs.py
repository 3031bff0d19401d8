"""What attempts at steps cost, counted in one way for replays, suites and comparisons."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.replay.runs.models import ReplayAttempt

INTENDED: Final = Q(call_intended_at__isnull=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """US dollars as far as they are known, beside the calls that they leave out.

    `unknown_calls` were made at a price that is not known. `uncertain_calls` are attempts that were lost when a call was about to be
    made: it may have been billed. `over` counts the attempts that are over, the last of them since `last`.
    """

    cost_usd: Decimal = Decimal(0)
    unknown_calls: int = 0
    uncertain_calls: int = 0
    over: int = 0
    last: datetime | None = None


NOTHING: Final = Spent()


def spent_by(owner: str, attempts: QuerySet[ReplayAttempt]) -> dict[Any, Spent]:
    """What the attempts cost for each `owner`, a column that they lead to; the lost ones are included. One query."""
    rows = (
        attempts.order_by()
        .values_list(owner)
        .annotate(
            cost=Sum("cost_usd", default=Decimal(0)),
            unknown=Sum("calls_made", filter=Q(cost_usd=None), default=0),
            uncertain=Count("id", filter=INTENDED & Q(calls_made=None) & ~under_way()),
            over=Count("finished_at"),
            last=Max("finished_at"),
        )
    )
    return {
        each: Spent(
            cost_usd=cost,
            unknown_calls=unknown,
            uncertain_calls=uncertain,
            over=over,
            last=last,
        )
        for each, cost, unknown, uncertain, over, last in rows
    }


def under_way() -> Q:
    """The attempts whose call is being made now, by a worker that holds their step."""
    held = Q(step__status="running", step__lease_token=F("lease_token"), step__lease_until__gte=now())
    return INTENDED & Q(finished_at=None) & held


def spent_on_replays(project: Project, since: date, until: date) -> Spent:
    """What the replays of a project cost on these days (UTC), by when each try at a step began. One query."""
    begin, end = (datetime.combine(day, time.min, UTC) for day in (since, until))
    attempts = ReplayAttempt.objects.filter(
        step__replay__project=project, started_at__gte=begin, started_at__lt=end + timedelta(days=1)
    )
    return spent_by("step__replay__project_id", attempts).get(project.pk, NOTHING)
