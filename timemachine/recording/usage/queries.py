"""What a session adds up to: from the counts that were kept beside it, and only what no kept count covers from its actions."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import FAILED
from timemachine.recording.sessions.unknown_costs import UNKNOWN_COST
from timemachine.recording.usage.models import BIN, Bin, FirstUse
from timemachine.recording.usage.pure.totals import Totals, add, fold

KEPT: Final = 64
"""Of how many sessions a process keeps how many steps of each kind they have: what was recorded stays as it is."""
_ENDED: Final = ExpressionWrapper(
    F("started_at") + Coalesce(F("duration_ms"), 0.0) * timedelta(milliseconds=1),
    output_field=DateTimeField(),
)


def totals_of(actions: QuerySet[Action]) -> Totals:
    """The exact totals of some actions, added up by the database per kind. One query, which reads them all."""
    rows = (
        actions.order_by()
        .values("kind")
        .annotate(
            steps=Count("id"),
            failed=Count("id", filter=FAILED),
            input_sum=Sum("input_tokens"),
            output_sum=Sum("output_tokens"),
            cost=Sum("cost_usd"),
            unknown_cost=Count("id", filter=UNKNOWN_COST),
            from_cache=Count("id", filter=Q(cached=True)),
            saved=Sum("saved_usd", filter=Q(cached=True)),
            unknown_saved=Count("id", filter=Q(cached=True, saved_usd=None)),
            began=Min("started_at"),
            ended=Max(_ENDED),
        )
    )
    return _folded(rows)


def totals_through(session: Session, sequence: int) -> Totals:
    """The exact totals of the steps up to that one: the kept counts of whole bins and what follows them. Two queries."""
    whole = sequence // BIN
    kept = (
        Bin.objects.filter(session=session, bin__lt=whole)
        .order_by()
        .values("kind")
        .annotate(
            steps=Sum("number"),
            failed=Sum("errors"),
            input_sum=Sum("input_tokens"),
            output_sum=Sum("output_tokens"),
            cost=Sum("cost_usd"),
            unknown_cost=Sum("unknown_cost_calls"),
            from_cache=Sum("cached_calls"),
            saved=Sum("saved_usd"),
            unknown_saved=Sum("unknown_saved_calls"),
            began=Min("first"),
            ended=Max("last"),
        )
    )
    beyond = Action.objects.filter(session=session, sequence__gt=whole * BIN, sequence__lte=sequence)
    return add(_folded(kept), totals_of(beyond))


def kinds_of(session: Session) -> Mapping[str, int]:
    """The kinds of steps that a session has, and how many of each. One query, none where it has no new steps."""
    return _kinds(session.id, session.last_sequence)


@lru_cache(maxsize=KEPT)
def _kinds(session: UUID, last: int) -> Mapping[str, int]:  # noqa: ARG001  # counted anew only when steps came
    bins = Bin.objects.filter(session_id=session).order_by()
    return dict(bins.values("kind").annotate(steps=Sum("number")).values_list("kind", "steps"))


def frames_used_through(session: Session, sequence: int, most: int) -> list[FirstUse]:
    """The versions of frames that the steps up to that one returned, in the order of their first use; the first so many. One query."""
    used = FirstUse.objects.filter(session=session, sequence__lte=sequence)
    return list(used.order_by("sequence", "rank")[:most])


def frames_first_used(session: Session, after: int, through: int) -> QuerySet[FirstUse]:
    """The versions of frames that no step up to `after` had returned and one up to `through` did, the latest first."""
    used = FirstUse.objects.filter(session=session, sequence__gt=after, sequence__lte=through)
    return used.order_by("-sequence", "-rank")


def _folded(rows: Iterable[Any]) -> Totals:
    return fold(_totals(row) for row in sorted(rows, key=lambda row: KINDS.index(row["kind"])))


def _totals(row: Any) -> Totals:
    return Totals(
        kinds={row["kind"]: row["steps"]},
        errors=row["failed"],
        input_tokens=_whole(row["input_sum"]),
        output_tokens=_whole(row["output_sum"]),
        cost_usd=row["cost"],
        unknown_cost_calls=row["unknown_cost"],
        cached_calls=row["from_cache"],
        saved_usd=row["saved"],
        unknown_saved_calls=row["unknown_saved"],
        first=row["began"],
        last=row["ended"],
    )


def _whole(number: Decimal | int | None) -> int | None:
    """A sum of whole numbers as Python counts them."""
    return None if number is None else int(number)
