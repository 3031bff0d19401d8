"""A page of the steps that a filter shows, by keyset, for views with pages instead of scrolling; and its table rows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, QuerySet

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import FAILED, HAPPENED_HERE, UNKNOWN_COST
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import Filter

TABLE_SIZE: Final = 80
"""Rows per table; a row is about twenty elements."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One step as recorded, with its own agent or its session's. `unknown_cost`: it is a call with unknown cost.

    A `copied` step happened in another session; `failed` is then false.
    """

    sequence: int
    kind: str
    label: str
    tool: str | None
    agent: str | None
    model: str | None
    started_at: datetime | None
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    error_type: str | None
    failed: bool
    copied: bool
    unknown_cost: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The place of a step in the time of a table: start and length, each from 0 to 1."""

    start: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From the earliest recorded start of some steps to their latest recorded end."""

    first: datetime
    last: datetime

    def bar(self, row: TableRow) -> Bar | None:
        """Return the place of a step in it; None if its start was not recorded. Without a duration it is the start only."""
        if row.started_at is None:
            return None
        whole = (self.last - self.first) / timedelta(milliseconds=1)
        if whole <= 0:
            return Bar(start=0, length=0)
        before = (row.started_at - self.first) / timedelta(milliseconds=1)
        return Bar(start=before / whole, length=(row.duration_ms or 0) / whole)


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


def table_rows(session: Session, sequences: Sequence[int]) -> list[TableRow]:
    """Return the rows of these steps, in the order of the session. One query."""
    if not sequences:
        return []
    found = (
        Action.objects.filter(session=session, sequence__in=sequences)
        .annotate(
            failed=ExpressionWrapper(FAILED, BooleanField()),
            copied=ExpressionWrapper(~HAPPENED_HERE, BooleanField()),
            unknown_cost=ExpressionWrapper(UNKNOWN_COST, BooleanField()),
        )
        .order_by("sequence")
        .values(*(field.name for field in fields(TableRow)))
    )
    own = session.agent
    return [TableRow(**(row | {"agent": own if row["agent"] is None else row["agent"]})) for row in found]


def span_of(rows: Sequence[TableRow]) -> Span | None:
    """Return the time that these steps cover; None if no start was recorded."""
    starts = [row.started_at for row in rows if row.started_at is not None]
    ends = [
        row.started_at + timedelta(milliseconds=row.duration_ms or 0)
        for row in rows
        if row.started_at is not None
    ]
    return Span(first=min(starts), last=max(ends)) if starts else None


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
