from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import (
    LOOK,
    SIDE,
    View,
    Window,
    first_match,
    last_match,
    matches,
    rows_after,
    rows_before,
    rows_since,
    window,
)
from timemachine.recording.usage.queries import kinds_of

pytestmark = pytest.mark.django_db


def events(count: int) -> list[ActionDraft]:
    return [ActionDraft(kind="event", output=f"step {n}") for n in range(1, count + 1)]


def asks(count: int) -> list[ActionDraft]:
    """Asks with their finds: steps 1 and 2, 3 and 4, …"""
    return [
        draft
        for n in range(count)
        for draft in (
            ActionDraft(kind="ask", id=f"a{n}", input="Why?"),
            ActionDraft(kind="find", parent=f"a{n}", input="Why?"),
        )
    ]


def sequences(found: Window) -> list[int]:
    return [place.step.sequence for place in found.rows]


def test_a_window_has_steps_before_and_after_its_center(record: Record) -> None:
    found = window(record(events(30)), around=15, side=5)
    assert sequences(found) == list(range(10, 20))
    assert (found.earlier, found.later) == (10, 19)


def test_a_window_with_all_steps_has_no_further_pages(record: Record) -> None:
    found = window(record(events(7)), around=3)
    assert sequences(found) == list(range(1, 8))
    assert (found.earlier, found.later) == (None, None)


def test_consecutive_windows_have_neither_gaps_nor_repetitions(record: Record) -> None:
    session = record(events(950))
    middle = window(session, around=470)
    seen = sequences(middle)
    earlier, later = middle.earlier, middle.later
    while earlier is not None:
        found = rows_before(session, earlier)
        seen, earlier = sequences(found) + seen, found.earlier
        assert found.later is None or found.later == sequences(found)[-1]
    while later is not None:
        found = rows_after(session, later)
        seen, later = seen + sequences(found), found.later
    assert seen == list(range(1, 951))


def test_consecutive_windows_with_folds_have_no_gaps(record: Record) -> None:
    session = record(asks(250))
    found = window(session, around=1, side=33)
    seen, later = sequences(found), found.later
    while later is not None:
        found = rows_after(session, later, limit=33)
        seen, later = seen + sequences(found), found.later
    assert seen == list(range(1, 501, 2))


def test_open_folds_and_the_fold_of_the_selected_step_show_their_children(record: Record) -> None:
    session = record(asks(4))
    assert sequences(window(session, around=1)) == [1, 3, 5, 7]
    assert sequences(window(session, around=1, view=View(unfolded=frozenset({3})))) == [1, 3, 4, 5, 7]
    assert sequences(window(session, around=6)) == [1, 3, 5, 6, 7]
    assert sequences(window(session, around=1, selected=8)) == [1, 3, 5, 7, 8]


def test_filtered_steps_are_shown_flat(record: Record) -> None:
    session = record(asks(4))
    finds = View(shown=parse("kind:find"))
    assert sequences(window(session, around=4, view=finds)) == [2, 4, 6, 8]
    assert sequences(rows_after(session, 4, finds)) == [6, 8]
    assert sequences(rows_before(session, 4, finds)) == [2]


def test_an_error_is_a_type_or_a_message(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="event", error_type="Timeout"),
            ActionDraft(kind="event", error_message="too late"),
            ActionDraft(kind="event"),
        ]
    )
    failed, fine = View(shown=parse("status:error")), View(shown=parse("status:ok"))
    assert sequences(window(session, 1, failed)) == [1, 2]
    assert sequences(window(session, 1, fine)) == [3]
    assert [place.step.failed for place in window(session, 1).rows] == [True, True, False]
    assert matches(session, failed.shown) == session.error_count == 2


def test_a_session_without_steps_has_an_empty_window(record: Record) -> None:
    found = window(record([]), around=1)
    assert (sequences(found), found.earlier, found.later) == ([], None, None)


def test_the_first_match_and_the_counts_cover_only_the_session(record: Record) -> None:
    record(asks(3), key="other")
    session = record([*events(2), *asks(1)])
    assert first_match(session, parse("kind:find")) == 4
    assert first_match(session, parse("kind:put")) is None
    assert first_match(session, parse("")) == 1
    assert kinds_of(session) == {"event": 2, "ask": 1, "find": 1}
    assert matches(session, parse("")) == 4


def test_a_window_takes_one_query_at_any_step_and_two_with_a_filter(
    record: Record, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session = record(asks(600))
    for around in (1, 600, 1_200):
        with django_assert_num_queries(1):
            window(session, around)
    with django_assert_num_queries(1):
        rows_after(session, 300)
    with django_assert_num_queries(2):
        window(session, 600, View(shown=parse("kind:find")))


def test_a_window_reads_only_its_steps_whatever_the_query_plan(record: Record) -> None:
    """Until a new table is analysed, the database plans to read and sort all steps."""
    session = record(events(2_000))
    with CaptureQueriesContext(connection) as queries:
        window(session, around=1_000)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {queries[0]['sql']}")
        ((((plan,),)),) = cursor.fetchall()
    assert max(each["Actual Rows"] for each in nodes(plan["Plan"])) <= 2 * (SIDE + LOOK)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan and all its descendants."""
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


def test_the_last_steps_come_before_a_future_step(record: Record) -> None:
    session = record(events(300))
    assert sequences(rows_before(session, 10**15))[-1] == 300
    assert sequences(rows_after(session, -5))[0] == 1


def test_new_rows_start_with_the_last_row_that_may_contain_them(record: Record) -> None:
    session = record(events(5) + asks(1)[:1])
    append(session.id, [*asks(1)[1:], *events(1)])
    found = rows_since(session, 6)
    assert sequences(found) == [6, 8]
    assert found.rows[0].inside == 1
    assert sequences(rows_since(session, 6, View(unfolded=frozenset({6})))) == [6, 7, 8]
    assert sequences(rows_since(session, 6, selected=7)) == [6, 7, 8]


def test_many_new_rows_are_returned_in_pages(record: Record) -> None:
    found = rows_since(record(events(400)), 0)
    assert (sequences(found)[0], sequences(found)[-1], found.later) == (1, 50, 50)


def test_new_rows_under_a_filter_match_the_filter(record: Record) -> None:
    session = record(asks(4))
    only = parse("kind:find")
    assert sequences(rows_since(session, 4, View(shown=only))) == [4, 6, 8]
    assert [matches(session, each, after=4) for each in (only, parse(""))] == [2, 4]
    assert (last_match(session, only), first_match(session, only, after=4)) == (8, 6)
    assert (last_match(session, parse("kind:put")), first_match(session, only, after=8)) == (None, None)
