"""The minimap of a session or a range of it: its steps in columns, by lane, with their errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.db.models import Count, F, IntegerField, Sum, Value
from django.db.models.functions import Cast

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import FAILED
from timemachine.recording.usage.models import BIN, Bin

LANES: Final[Mapping[str, tuple[str, ...]]] = {
    "agent": ("message",),
    "model": ("ask", "llm_call"),
    "retrieval": ("find", "put", "memory_op"),
    "tool": ("tool_call", "tool_result"),
    "sys": ("event", "checkpoint"),
}
LANE_OF: Final = {kind: lane for lane, kinds in LANES.items() for kind in kinds}
MOST_COLUMNS: Final = 400
MOST_READ: Final = 6_000
"""How many steps are read individually; a longer range uses the counts per hundred steps."""
CACHED: Final = 64
"""How many minimaps a process caches. Recorded steps do not change, so one is redrawn only when new steps arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRange:
    """The steps `first` to `last` of a session."""

    first: int
    last: int

    @property
    def steps(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimap:
    """A range in columns of `width` steps: for every lane the number of steps per column, and the errors per column.

    Every number is at most `width`; the last column may cover fewer steps.
    """

    span: StepRange
    width: int
    lanes: Mapping[str, Sequence[int]]
    errors: Sequence[int]

    @property
    def columns(self) -> int:
        return len(self.errors)


def minimap(session: Session, requested: StepRange | None = None) -> Minimap | None:
    """Return the minimap of a range or of the session; None if nothing was recorded. One query, none if it is cached.

    A long range starts and ends with complete hundreds, starting with the requested one.
    """
    whole = StepRange(first=1, last=session.last_sequence)
    if not whole.steps:
        return None
    within = whole
    if requested:
        first = min(max(requested.first, 1), whole.last)
        within = StepRange(first=first, last=min(max(requested.last, first), whole.last))
    return _of(session.id, session.last_sequence, within)


@lru_cache(maxsize=CACHED)
def _of(session: UUID, last: int, within: StepRange) -> Minimap:
    return _from_steps(session, within) if within.steps <= MOST_READ else _from_bins(session, last, within)


def _from_steps(session: UUID, span: StepRange) -> Minimap:
    width = -(-span.steps // MOST_COLUMNS)
    steps = Action.objects.filter(session_id=session, sequence__range=(span.first, span.last))
    column = Cast((F("sequence") - span.first) / Value(width), IntegerField())
    counted = steps.order_by().annotate(column=column).values_list("column", "kind")
    rows = counted.annotate(number=Count("id"), failed=Count("id", filter=FAILED))
    return _drawn(span, width, rows)


def _from_bins(session: UUID, last_recorded: int, requested: StepRange) -> Minimap:
    first, last = (requested.first - 1) // BIN, (requested.last - 1) // BIN
    per_column = -(-(last - first + 1) // MOST_COLUMNS)
    span = StepRange(first=first * BIN + 1, last=min((last + 1) * BIN, last_recorded))
    bins = Bin.objects.filter(session_id=session, bin__range=(first, last)).order_by()
    counted = bins.annotate(column=(F("bin") - first) / Value(per_column)).values_list("column", "kind")
    rows = counted.annotate(all=Sum("number"), failed=Sum("errors"))
    return _drawn(span, per_column * BIN, rows)


def _drawn(span: StepRange, width: int, rows: Iterable[tuple[int, str, int, int]]) -> Minimap:
    columns = -(-span.steps // width)
    lanes = {lane: [0] * columns for lane in LANES}
    errors = [0] * columns
    for column, kind, number, failed in rows:
        lanes[LANE_OF[kind]][column] += int(number)
        errors[column] += int(failed)
    return Minimap(span=span, width=width, lanes=lanes, errors=errors)
