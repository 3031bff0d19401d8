"""What the timeline is asked. Each question lives in the module of its noun; this page lists them."""

from timemachine.recording.timeline.actions import with_everything
from timemachine.recording.timeline.rows import (
    first_match,
    last_match,
    matches,
    matches_since,
    next_match,
    rows_after,
    rows_before,
    rows_since,
    window,
)
from timemachine.recording.timeline.state import state_at
from timemachine.recording.timeline.step import heads, nearest, neighbours, relatives, step
from timemachine.recording.usage.queries import kinds_of, totals_of, totals_through

__all__ = [
    "first_match",
    "heads",
    "kinds_of",
    "last_match",
    "matches",
    "matches_since",
    "nearest",
    "neighbours",
    "next_match",
    "relatives",
    "rows_after",
    "rows_before",
    "rows_since",
    "state_at",
    "step",
    "totals_of",
    "totals_through",
    "window",
    "with_everything",
]
