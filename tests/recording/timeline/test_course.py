"""The activity graph of a session: steps over time, from single steps in short sessions and from stored counts in long ones."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.sparkline_counts import COLUMNS, MOST_READ, activity_of

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 9, tzinfo=UTC)


def at(second: float, error: str | None = None) -> ActionDraft:
    return ActionDraft(kind="event", started_at=START + timedelta(seconds=second), error_type=error)


def test_every_step_of_a_short_session_is_placed_by_its_time(record: Record) -> None:
    session = record([at(0), at(1), at(99, "E"), at(100)])
    course = activity_of([session])[session.id]
    assert course.over_time
    assert {column: number for column, number in enumerate(course.steps) if number} == {0: 2, 39: 2}
    assert [column for column, failed in enumerate(course.failed) if failed] == [39]


def test_a_step_without_a_time_is_placed_with_the_one_before_it(record: Record) -> None:
    untimed = ActionDraft(kind="event")
    session = record([untimed, at(0), at(40), untimed, at(80)])
    course = activity_of([session])[session.id]
    assert {column: number for column, number in enumerate(course.steps) if number} == {0: 2, 20: 2, 39: 1}


@pytest.mark.parametrize("steps", [1, 12, 40])
def test_a_short_session_without_times_shows_each_step_in_order(record: Record, steps: int) -> None:
    session = record([ActionDraft(kind="event")] * steps)
    course = activity_of([session])[session.id]
    assert not course.over_time
    assert sorted(course.steps) == [0.0] * (COLUMNS - steps) + [1.0] * steps
    assert course.steps[0] == 1


def test_steps_at_a_single_moment_are_not_drawn_over_time(record: Record) -> None:
    session = record([at(5), at(5)])
    assert not activity_of([session])[session.id].over_time


@pytest.mark.parametrize("timed", [True, False])
def test_a_long_session_is_drawn_from_stored_counts(record: Record, timed: bool) -> None:
    steps = MOST_READ * 2
    session = record(
        [at(n, "E" if n == 350 else None) if timed else ActionDraft(kind="event") for n in range(steps)]
    )
    course = activity_of([session])[session.id]
    assert course.over_time is timed
    assert sum(course.steps) == pytest.approx(steps)
    assert max(course.steps) <= 1.5 * steps / COLUMNS
    assert min(course.steps) > 0
    assert {column for column, failed in enumerate(course.failed) if failed} <= set(range(14, 21))
    assert any(course.failed) is timed


def test_any_number_of_sessions_takes_one_query(
    record: Record, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sessions = [record([at(n) for n in range(steps)], key=f"s{steps}") for steps in (0, 1, 3, 500)]
    with django_assert_num_queries(1):
        found = activity_of(sessions)
    assert [sum(found[each.id].steps) for each in sessions[1:]] == pytest.approx([1, 3, 500])
    assert sessions[0].id not in found
