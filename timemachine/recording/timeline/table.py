"""The steps of a sheet as table rows: kind, agent, start, duration, tokens, cost."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, Q

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import FAILED, UNKNOWN_COST

SIZE: Final = 80
"""Rows per table; a row is about twenty elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One step as recorded, with its own agent or its session's. `unknown_cost`: it is a call with unknown cost."""

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


def table_rows(session: Session, sequences: Sequence[int]) -> list[TableRow]:
    """Return the rows of these steps, in the order of the session. One query."""
    if not sequences:
        return []
    found = (
        Action.objects.filter(session=session, sequence__in=sequences)
        .annotate(failed=_either(FAILED), unknown_cost=_either(UNKNOWN_COST))
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


def _either(condition: Q) -> ExpressionWrapper[Q]:
    return ExpressionWrapper(condition, output_field=BooleanField())
