"""Rows of a timeline: a window of one-line steps around a place, read by index, without counting from the start."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from timemachine.recording.annotations.significance.queries import SIGNIFICANCE
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import FAILED, HAPPENED_HERE
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter
from timemachine.recording.timeline.pure.nesting import REACH, Place, Row, flat, nest

SIDE: Final = 50
"""How many rows a page first shows on each side of its step: more than the highest screen, few enough to render quickly."""
MORE: Final = 100
LOOK: Final = 2 * REACH
COLUMNS: Final = tuple(
    each.name for each in fields(Row) if each.name not in {"significance", "failed", "copied"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Consecutive visible rows; `earlier` and `later` are the sequences to continue from, None at an end."""

    rows: Sequence[Place]
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The visible part of a timeline: a filter, and expanded steps. If the filter leaves out steps, nothing is nested or
    collapsed."""

    shown: Filter = EVERYTHING
    unfolded: frozenset[int] = frozenset()


ALL: Final = View()


def window(
    session: Session, around: int, view: View = ALL, side: int = SIDE, selected: int | None = None
) -> Window:
    """Return the rows around a step: `side` recorded ones before it and `side` from it on. One query, two with a filter.

    The selected step (by default that step) is never hidden.
    """
    before, after = _around(session, around, (side + LOOK, side + LOOK), view)
    return _window(before, after, (side, side), _places([*before, *after], view, selected or around))


def rows_before(session: Session, sequence: int, view: View = ALL, limit: int = MORE) -> Window:
    """Return the rows that end just before a step. One query, two with a filter."""
    before, beyond = _around(session, sequence, (limit + LOOK, LOOK), view)
    return _window(before, beyond, (limit, 0), _places([*before, *beyond], view))


def rows_after(session: Session, sequence: int, view: View = ALL, limit: int = MORE) -> Window:
    """Return the rows that begin just after a step. One query, two with a filter."""
    beyond, after = _around(session, sequence + 1, (LOOK, limit + LOOK), view)
    return _window(beyond, after, (0, limit), _places([*beyond, *after], view))


def rows_since(session: Session, sequence: int, view: View = ALL, selected: int | None = None) -> Window:
    """Return what is new in a list that ended with a step: its last outermost row and everything after, `SIDE` rows
    after the step.

    Steps recorded since then may be inside that row; rows before it do not change. One query, two with a filter.
    """
    before, after = _around(session, sequence + 1, (LOOK, SIDE + LOOK), view)
    places = _places([*before, *after], view, selected)
    repeated = next((n for n, place in enumerate(reversed(places[: len(before)]), 1) if not place.depth), 0)
    return _window(before, after, (repeated, SIDE), places)


def matches(session: Session, shown: Filter, after: int = 0) -> int:
    """Return the number of steps that a filter shows, of all or of those after that one. One query, none for the empty
    filter."""
    if not shown:
        return max(0, session.last_sequence - after)
    return _matching(session, shown).filter(sequence__gt=after).count()


def first_match(session: Session, shown: Filter, after: int = 0) -> int | None:
    """Return the first step that a filter shows, of all or of those after that one. One query, none for the empty filter."""
    if not shown:
        return after + 1 if session.last_sequence > after else None
    return _matching(session, shown).filter(sequence__gt=after).order_by("sequence").first()


def last_match(session: Session, shown: Filter) -> int | None:
    """Return the last step that a filter shows. One query."""
    return _matching(session, shown).order_by("-sequence").first()


def _matching(session: Session, shown: Filter) -> QuerySet[Action, int]:
    return Action.objects.filter(matching(shown), session=session).values_list("sequence", flat=True)


def rows_of(
    session: Session, condition: Q, limit: int, *, recorded: bool = False, latest: bool = False
) -> list[Row]:
    """Return the first rows that match a condition, or the `latest`, in order. One query.

    With `recorded`, they are without later changes of significance.
    """
    found = (
        Action.objects.filter(condition, session=session)
        .annotate(
            failed=ExpressionWrapper(FAILED, output_field=BooleanField()),
            copied=ExpressionWrapper(~HAPPENED_HERE, output_field=BooleanField()),
            significance_now=F("significance") if recorded else SIGNIFICANCE,
        )
        .order_by("-sequence" if latest else "sequence")
        .values(*COLUMNS, "failed", "copied", "significance_now")
    )
    rows = [Row(significance=values.pop("significance_now"), **values) for values in found[:limit]]
    return rows[::-1] if latest else rows


def steps_before(session: Session, sequence: int, limit: int, view: View) -> list[Row]:
    """Return the last recorded steps before one, in order. One query."""
    if not view.shown:
        return _range(session, sequence, limit, 0)
    return rows_of(session, matching(view.shown) & Q(sequence__lt=sequence), limit, latest=True)


def steps_from(session: Session, sequence: int, limit: int, view: View) -> list[Row]:
    """Return the first recorded steps from one on. One query."""
    if not view.shown:
        return _range(session, sequence, 0, limit)
    return rows_of(session, matching(view.shown) & Q(sequence__gte=sequence), limit)


def _around(
    session: Session, sequence: int, limits: tuple[int, int], view: View
) -> tuple[list[Row], list[Row]]:
    """Return the last steps before one and the first from it on. One query, two with a filter."""
    before, after = limits
    if view.shown:
        return steps_before(session, sequence, before, view), steps_from(session, sequence, after, view)
    found = _range(session, sequence, before, after)
    middle = bisect_left(found, sequence, key=lambda row: row.sequence)
    return found[:middle], found[middle:]


def _range(session: Session, sequence: int, before: int, after: int) -> list[Row]:
    """Return recorded steps before one and from it on.

    One query, bounded on both sides, which is possible because sequences have no gaps. With only a LIMIT, the
    database reads and sorts all of a new session until it has statistics.
    """
    middle = max(1, min(sequence, session.last_sequence + 1))
    return rows_of(session, Q(sequence__gte=middle - before, sequence__lt=middle + after), before + after)


def _places(rows: Sequence[Row], view: View, selected: int | None = None) -> list[Place]:
    return flat(rows) if view.shown.picks else nest(rows, view.unfolded, selected)


def _window(
    before: Collection[Row], after: Collection[Row], sides: tuple[int, int], places: Sequence[Place]
) -> Window:
    """Cut the window to size; rows beyond it are only there for nesting."""
    start = max(0, len(before) - sides[0])
    end = len(before) + min(len(after), sides[1])
    return Window(
        rows=[place for place in places[start:end] if not place.hidden],
        earlier=places[start].step.sequence if 0 < start < len(places) else None,
        later=places[end - 1].step.sequence if 0 < end < len(places) else None,
    )
