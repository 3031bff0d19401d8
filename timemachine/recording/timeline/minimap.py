"""The whole of a session, or a stretch of it, in a picture: its steps in columns, by lane, with the errors among them."""

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
"""How many steps are read one by one; a longer stretch is drawn from the counts that are kept for every hundred."""
KEPT: Final = 64
"""How many pictures a process keeps: what was recorded stays as it is, so one is drawn anew only when steps have come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The steps `first` to `last` of a session."""

    first: int
    last: int

    @property
    def steps(self) -> int:
        """How many there are."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimap:
    """A stretch in columns of `width` steps each: for every lane how many steps of each column are in it, and the errors of each.

    Every column of `lanes` and `errors` counts at most `width`; the last one may cover fewer steps.
    """

    stretch: Stretch
    width: int
    lanes: Mapping[str, Sequence[int]]
    errors: Sequence[int]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.errors)


def minimap(session: Session, asked: Stretch | None = None) -> Minimap | None:
    """The picture of a stretch, or of the whole; None where nothing was recorded. One query, none for the same picture again.

    A long stretch begins and ends with whole hundreds: from the one in which it was asked to begin.
    """
    whole = Stretch(first=1, last=session.last_sequence)
    if not whole.steps:
        return None
    within = _within(asked, whole) if asked else whole
    return _of(session.id, session.last_sequence, within)


@lru_cache(maxsize=KEPT)
def _of(session: UUID, last: int, within: Stretch) -> Minimap:
    return _from_steps(session, within) if within.steps <= MOST_READ else _from_bins(session, last, within)


def _within(asked: Stretch, whole: Stretch) -> Stretch:
    first = min(max(asked.first, 1), whole.last)
    return Stretch(first=first, last=min(max(asked.last, first), whole.last))


def _from_steps(session: UUID, stretch: Stretch) -> Minimap:
    width = -(-stretch.steps // MOST_COLUMNS)
    steps = Action.objects.filter(session_id=session, sequence__range=(stretch.first, stretch.last))
    column = Cast((F("sequence") - stretch.first) / Value(width), IntegerField())
    counted = steps.order_by().annotate(column=column).values_list("column", "kind")
    rows = counted.annotate(number=Count("id"), failed=Count("id", filter=FAILED))
    return _drawn(stretch, width, rows)


def _from_bins(session: UUID, last_recorded: int, asked: Stretch) -> Minimap:
    first, last = (asked.first - 1) // BIN, (asked.last - 1) // BIN
    together = -(-(last - first + 1) // MOST_COLUMNS)
    stretch = Stretch(first=first * BIN + 1, last=min((last + 1) * BIN, last_recorded))
    bins = Bin.objects.filter(session_id=session, bin__range=(first, last)).order_by()
    counted = bins.annotate(column=(F("bin") - first) / Value(together)).values_list("column", "kind")
    rows = counted.annotate(all=Sum("number"), failed=Sum("errors"))
    return _drawn(stretch, together * BIN, rows)


def _drawn(stretch: Stretch, width: int, rows: Iterable[tuple[int, str, int, int]]) -> Minimap:
    columns = -(-stretch.steps // width)
    lanes = {lane: [0] * columns for lane in LANES}
    errors = [0] * columns
    for column, kind, number, failed in rows:
        lanes[LANE_OF[kind]][column] += int(number)
        errors[column] += int(failed)
    return Minimap(stretch=stretch, width=width, lanes=lanes, errors=errors)
