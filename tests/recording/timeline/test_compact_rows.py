"""Windows of the compact view: the same rows from every position, and every row in some window."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.compact_rows import Compact, compact_after, compact_before, compact_window
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import View

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(record: Record) -> Session:
    """430 steps: runs of calls and their results between messages."""
    drafts = []
    for number in range(430):
        match number % 10:
            case 0:
                drafts.append(ActionDraft(kind="message", output=f"turn {number}"))
            case odd if odd % 2:
                drafts.append(ActionDraft(kind="tool_call", tool="read", call_id=str(number)))
            case _:
                drafts.append(ActionDraft(kind="tool_result", tool="read", call_id=str(number - 1)))
    return record(drafts)


def heads(found: Compact) -> list[int]:
    return [place.step.sequence for place in found.window.rows]


def forwards(session: Session, view: View) -> list[int]:
    found = compact_window(session, 1, view)
    rows = heads(found)
    while found.window.later is not None:
        found = compact_after(session, found.window.later, view)
        rows += heads(found)
    return rows


def backwards(session: Session, view: View) -> list[int]:
    found = compact_window(session, session.last_sequence, view)
    rows = heads(found)
    while found.window.earlier is not None:
        found = compact_before(session, found.window.earlier, view)
        rows = heads(found) + rows
    return rows


@pytest.mark.parametrize(
    "written", ["", "kind:message", "kind:tool_call", "step:95-230", "turn 4", "status:error"]
)
def test_forwards_and_backwards_the_rows_are_the_same(session: Session, written: str) -> None:
    view = View(shown=parse(written))
    assert forwards(session, view) == backwards(session, view)


def test_the_rows_represent_every_step_once(session: Session) -> None:
    found = compact_window(session, 150, View())
    steps = [
        each.sequence
        for place in found.window.rows
        for each in (
            found.standing[place.step.sequence].steps
            if place.step.sequence in found.standing
            else [place.step]
        )
    ]
    assert steps == list(range(1, 201))
    assert (found.window.earlier, found.window.later) == (None, heads(found)[-1])


def test_paging_continues_from_any_row(session: Session) -> None:
    view = View(unfolded=frozenset({12}))
    every = forwards(session, view)
    assert [number for number in every if 12 < number < 16] == [13, 14, 15]
    for row in every:
        at = every.index(row)
        before, after = compact_before(session, row, view), compact_after(session, row, view)
        assert heads(before) == every[max(0, at - len(heads(before))) : at]
        assert heads(after) == every[at + 1 : at + 1 + len(heads(after))]
        assert bool(heads(before)) == (at > 0)
        assert bool(heads(after)) == (row != every[-1])


def test_paging_from_a_step_inside_a_row_continues_at_the_next_row(session: Session) -> None:
    assert heads(compact_after(session, 15, View()))[0] == 21
    assert heads(compact_before(session, 15, View()))[-1] == 12
    assert heads(compact_after(session, 430, View())) == []


def test_the_group_of_the_selected_step_is_shown_step_by_step(session: Session) -> None:
    rows = compact_window(session, 15, View(), selected=15).window.rows
    opened = [place for place in rows if 12 <= place.step.sequence <= 20]
    assert [place.step.sequence for place in opened] == list(range(12, 21))
    assert [place.depth for place in opened] == [0] + [1] * 8
    assert opened[0].unfolded
    closed = compact_window(session, 12, View(), selected=12).window.rows
    assert 13 not in [place.step.sequence for place in closed]


def test_a_window_takes_two_queries_and_more_rows_take_one(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        compact_window(session, 200, View())
    for more in (compact_before, compact_after):
        with django_assert_num_queries(1):
            more(session, 200, View())


def test_a_session_without_steps_has_no_rows(record: Record) -> None:
    found = compact_window(record([]), 1, View())
    assert (list(found.window.rows), found.window.earlier, found.window.later) == ([], None, None)
