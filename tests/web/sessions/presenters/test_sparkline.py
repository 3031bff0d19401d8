"""The sparkline of a session in its row: a picture with a description in words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.sparkline_counts import COLUMNS, Activity
from timemachine.web.sessions.presenters.sparkline import HIGH, WIDE, sparkline


def drawn(
    steps: list[float], failed: list[bool] | None = None, *, errors: int = 0, timed: bool = True
) -> str:
    session = Session(last_sequence=round(sum(steps)), error_count=errors)
    course = Activity(steps=steps, failed=failed or [False] * COLUMNS, over_time=timed)
    return sparkline(session, {session.id: course})


@pytest.mark.parametrize(
    ("timed", "errors", "words"),
    [
        (True, 0, "43 steps over time, busiest at 100%"),
        (True, 2, "43 steps over time, busiest at 100%; 2 errors"),
        (False, 1, "43 steps in order; 1 error"),
    ],
)
def test_the_sparkline_describes_itself_in_words(timed: bool, errors: int, words: str) -> None:
    assert f'aria-label="{words}"' in drawn([1.0] * 39 + [4.0], errors=errors, timed=timed)


def test_an_error_is_a_tick_under_the_steps_and_not_only_a_colour() -> None:
    picture = drawn([1.0] * COLUMNS, [column in {3, 4} for column in range(COLUMNS)])
    assert f'<path class="errors" d="M9 {HIGH + 2}h6v4h-6z"/>' in picture
    assert "errors" not in drawn([1.0] * COLUMNS)


def test_a_session_without_steps_has_no_sparkline() -> None:
    assert sparkline(Session(), {}) == ""


@given(st.lists(st.floats(0, 1e6), min_size=COLUMNS, max_size=COLUMNS).filter(any))
def test_the_outline_is_as_wide_as_the_picture_and_never_higher(steps: list[float]) -> None:
    found = re.search(r'<path d="M0 16((?:V\d+h\d+)+)V16z"/>', drawn(steps))
    assert found
    pieces = [(int(high), int(wide)) for high, wide in re.findall(r"V(\d+)h(\d+)", found[1])]
    assert sum(wide for _, wide in pieces) == COLUMNS * WIDE
    assert min(high for high, _ in pieces) == 0
    assert max(high for high, _ in pieces) <= HIGH
