"""The length of the timeline's list and the position of a step in it, for an accurate scrollbar."""

from functools import lru_cache
from typing import Final
from uuid import UUID

from django.db.models import Count, F, IntegerField, QuerySet, Sum
from django.db.models.functions import Cast

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import Filter
from timemachine.recording.timeline.pure.scale import Scale
from timemachine.recording.usage.models import BIN, Bin

CACHED: Final = 64
"""How many scales a process caches. Recorded steps do not change, so a scale is recounted only when new steps arrive."""


def scale_of(session: Session, shown: Filter) -> Scale:
    """Return the number of rows per hundred steps in the list of a filter; without a filter, collapsed steps are not
    rows.

    One query; none if it is cached and the session has no new steps.
    """
    if shown.is_counted:
        return _cached_scale(session.id, session.last_sequence, shown)
    return Scale(rows=_by_hundreds(dict(_counted(session, shown)), session.last_sequence), width=BIN)


@lru_cache(maxsize=CACHED)
def _cached_scale(session: UUID, last: int, shown: Filter) -> Scale:
    found = dict(_of_bins(session, shown))
    return Scale(rows=_within(_by_hundreds(found, last), shown), width=BIN)


def _by_hundreds(found: dict[int, int], last: int) -> list[int]:
    return [found.get(number, 0) for number in range(-(-last // BIN))]


def _within(rows: list[int], shown: Filter) -> list[int]:
    """Return the rows within the filter's range; the hundreds at its ends count in proportion."""
    if shown.steps is None:
        return rows
    first, last = shown.steps
    within = []
    for number, count in enumerate(rows):
        overlap = min((number + 1) * BIN, last) - max(number * BIN + 1, first) + 1
        within.append(round(count * max(0, overlap) / BIN))
    return within


def _of_bins(session: UUID, shown: Filter) -> QuerySet[Bin, tuple[int, int]]:
    bins = Bin.objects.filter(session_id=session).order_by()
    if shown.kinds:
        bins = bins.filter(kind__in=shown.kinds)
    rows = {
        None: F("number") if shown else F("number") - F("folded"),
        "error": F("errors"),
        "ok": F("number") - F("errors"),
    }[shown.status]
    return bins.values("bin").annotate(rows=Cast(Sum(rows), IntegerField())).values_list("bin", "rows")


def _counted(session: Session, shown: Filter) -> QuerySet[Action, tuple[int, int]]:
    steps = Action.objects.filter(matching(shown), session=session).order_by()
    counted = steps.annotate(bin=Cast((F("sequence") - 1) / BIN, IntegerField())).values("bin")
    return counted.annotate(rows=Count("id")).values_list("bin", "rows")
