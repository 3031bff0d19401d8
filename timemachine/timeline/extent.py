"""How long the list of a timeline is, and where in it a step stands, so that its scrollbar tells the truth."""

from django.db.models import Count, F, IntegerField, QuerySet, Sum
from django.db.models.functions import Cast

from timemachine.recording.models import Action, Session
from timemachine.rollup.models import BIN, Bin
from timemachine.timeline.filter import Filter
from timemachine.timeline.matching import matching
from timemachine.timeline.scale import Scale


def scale_of(session: Session, shown: Filter) -> Scale:
    """How many rows the list of a filter has for every hundred steps; without one the steps in closed folds are no rows. One query."""
    found = dict(_kept(session, shown) if shown.is_counted else _anew(session, shown))
    hundreds = -(-session.last_sequence // BIN)
    rows = [found.get(number, 0) for number in range(hundreds)]
    return Scale(rows=_within(rows, shown) if shown.is_counted else rows, width=BIN)


def _within(rows: list[int], shown: Filter) -> list[int]:
    """The rows of the stretch that a filter looks at; in the hundreds where it begins and ends its part of theirs."""
    if shown.steps is None:
        return rows
    first, last = shown.steps
    parts = (_overlap(number * BIN + 1, (number + 1) * BIN, first, last) for number in range(len(rows)))
    return [round(number * part / BIN) for number, part in zip(rows, parts, strict=True)]


def _overlap(begin: int, end: int, first: int, last: int) -> int:
    return max(0, min(end, last) - max(begin, first) + 1)


def _kept(session: Session, shown: Filter) -> QuerySet[Bin, tuple[int, int]]:
    bins = Bin.objects.filter(session=session).order_by()
    if shown.kinds:
        bins = bins.filter(kind__in=shown.kinds)
    rows = {
        None: F("number") if shown else F("number") - F("folded"),
        "error": F("errors"),
        "ok": F("number") - F("errors"),
    }[shown.status]
    return bins.values("bin").annotate(rows=Cast(Sum(rows), IntegerField())).values_list("bin", "rows")


def _anew(session: Session, shown: Filter) -> QuerySet[Action, tuple[int, int]]:
    steps = Action.objects.filter(matching(shown), session=session).order_by()
    counted = steps.annotate(bin=Cast((F("sequence") - 1) / BIN, IntegerField())).values("bin")
    return counted.annotate(rows=Count("id")).values_list("bin", "rows")
