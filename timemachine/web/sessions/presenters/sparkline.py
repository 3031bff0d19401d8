"""The activity of a session as a sparkline: its steps as a silhouette, with a tick below each failed one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.numbers import counted
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.sparkline_counts import COLUMNS, Activity
from timemachine.web.template_library import NOTHING, register

WIDE: Final = 3
HIGH: Final = 16
TICKS: Final = 4
"""Height of the error ticks, below a gap of one line."""
LEAST: Final = 2
"""Minimum height of a column with few steps, so that it is visible."""


@register.simple_tag
def sparkline(session: Session, courses: Mapping[UUID, Activity]) -> SafeString:
    """Return the activity of a session as an SVG with a text label; empty for a session without steps."""
    course = courses.get(session.id)
    if course is None:
        return NOTHING
    return format_html(
        '<svg class="course" viewBox="0 0 {} {}" role="img" aria-label="{}"><path d="{}"/>{}</svg>',
        COLUMNS * WIDE,
        HIGH + 2 + TICKS,
        course_words(session, course),
        "".join(_silhouette(course.steps)),
        format_html('<path class="errors" d="{}"/>', "".join(_ticks(course.failed)))
        if any(course.failed)
        else "",
    )


def course_words(session: Session, course: Activity) -> str:
    """Return the label of the sparkline: `340 steps over time, most at 45%; 2 errors`."""
    steps = counted(session.last_sequence, "step")
    errors = f"; {counted(session.error_count, 'error')}" if session.error_count else ""
    if not course.over_time:
        return f"{steps} in order{errors}"
    busiest = max(range(COLUMNS), key=lambda column: course.steps[column])
    return f"{steps} over time, busiest at {round(100 * busiest / (COLUMNS - 1))}%{errors}"


def _silhouette(steps: Sequence[float]) -> Iterator[str]:
    """Return one outline over all columns, the highest as high as the drawing; equal neighbours are merged."""
    most = max(steps)
    heights = [max(LEAST, round(HIGH * number / most)) if number else 0 for number in steps]
    yield f"M0 {HIGH}"
    for height, same in groupby(heights):
        yield f"V{HIGH - height}h{WIDE * len(list(same))}"
    yield f"V{HIGH}z"


def _ticks(failed: Sequence[bool]) -> Iterator[str]:
    at = 0
    for here, same in groupby(failed):
        wide = WIDE * len(list(same))
        if here:
            yield f"M{at} {HIGH + 2}h{wide}v{TICKS}h-{wide}z"
        at += wide
