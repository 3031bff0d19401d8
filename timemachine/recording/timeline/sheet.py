"""A page of the steps that a filter shows, by keyset, for views with pages instead of scrolling."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a sheet: before a step, after one, or at the step `near`, with `lead` steps before it."""

    near: int
    lead: int = 0
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The steps of a sheet in order; `earlier` and `later` are the sequences to continue before and after, None at an end."""

    sequences: Sequence[int]
    earlier: int | None
    later: int | None


def sheet(session: Session, shown: Filter, place: Place, size: int) -> Sheet:
    """Return a page of a filter's steps, or the last page if there are none at the place. At most four queries, none of
    which reads more than a page."""
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
