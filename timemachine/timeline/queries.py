"""What the timeline is asked. Each question lives in the module of its noun; this page lists them."""

from timemachine.rollup.queries import kinds_of, totals_of, totals_through
from timemachine.timeline.document import action_json, with_everything
from timemachine.timeline.moment import state_at
from timemachine.timeline.rows import (
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
from timemachine.timeline.sessions import sessions_page
from timemachine.timeline.step import heads, nearest, neighbours, relatives, step

__all__ = [
    "action_json",
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
    "sessions_page",
    "state_at",
    "step",
    "totals_of",
    "totals_through",
    "window",
    "with_everything",
]
