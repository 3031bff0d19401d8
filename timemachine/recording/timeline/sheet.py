"""A sheet of a session: so many of the steps that a filter shows, by keyset, for views that turn pages instead of scrolling."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a sheet lies: before a step, after one, or at the step `near`, with so many in front of it as `lead` says."""

    near: int
    lead: int = 0
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The steps of a sheet in their order; `earlier` and `later` are the sequences to go on before and after, None at an end."""

    sequences: Sequence[int]
    earlier: int | None
    later: int | None


def sheet(session: Session, shown: Filter, place: Place, size: int) -> Sheet:
    """So many steps of a filter; the last ones where none is left at a place. Four queries at most, none of which reads more than a sheet."""
    steps = (
        Action.objects.filter(matching(shown), session=session)
        .order_by("sequence")
        .values_list("sequence", flat=True)
    )
    if place.before is not None and place.after is None:
        return _ending(steps, place.before, size)
    begin = place.near if place.after is None else place.after + 1
    if place.after is None and place.lead:
        before = steps.filter(sequence__lt=place.near).order_by("-sequence")[: place.lead]
        begin = min(before, default=place.near)
    found = list(steps.filter(sequence__gte=begin)[: size + 1])
    if not found:
        return _ending(steps, begin, size)
    return _between(found[:size], earlier=steps.filter(sequence__lt=begin).exists(), later=len(found) > size)


def _ending(steps: QuerySet[Action, int], before: int, size: int) -> Sheet:
    found = list(steps.filter(sequence__lt=before).order_by("-sequence")[: size + 1])
    return _between(
        found[:size][::-1], earlier=len(found) > size, later=steps.filter(sequence__gte=before).exists()
    )


def _between(sequences: Sequence[int], *, earlier: bool, later: bool) -> Sheet:
    return Sheet(
        sequences=sequences,
        earlier=sequences[0] if earlier and sequences else None,
        later=sequences[-1] if later and sequences else None,
    )
