"""The course of a session as a small picture in a row: its steps as a silhouette, and under it a tick where one failed."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.formatting import counted
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.sparkline_counts import COLUMNS, Course
from timemachine.web.template_library import NOTHING, register

WIDE: Final = 3
HIGH: Final = 16
TICKS: Final = 4
"""How high the ticks of errors are, under a line's gap."""
LEAST: Final = 2
"""How high the column of few steps is at least, so that it is seen."""


@register.simple_tag
def sparkline(session: Session, courses: Mapping[UUID, Course]) -> SafeString:
    """The course of a session as an SVG that says in words what it shows; nothing for a session without steps."""
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


def course_words(session: Session, course: Course) -> str:
    """What the picture shows: `340 steps over time, most at 45 % of it; 2 errors`."""
    steps = counted(session.last_sequence, "step")
    errors = f"; {counted(session.error_count, 'error')}" if session.error_count else ""
    if not course.over_time:
        return f"{steps} in their order{errors}"
    busiest = max(range(COLUMNS), key=lambda column: course.steps[column])
    return f"{steps} over time, most at {round(100 * busiest / (COLUMNS - 1))} % of it{errors}"


def _silhouette(steps: Sequence[float]) -> Iterator[str]:
    """One outline over all columns, the highest as high as the picture; equal neighbours are one piece."""
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
