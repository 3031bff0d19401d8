"""The list of sessions by their start: the first start of a step, else the stated one; without any, no range of days."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from tests.recording.timeline.conftest import Record
from timemachine.core.accounts.models import Project
from timemachine.memory.search.sessions import SessionQuery, sessions_matching, sessions_page
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(days: float) -> ActionDraft:
    return ActionDraft(kind="event", started_at=NOON + timedelta(days=days), duration_ms=1_000.0)


@pytest.fixture
def sessions(record: Record) -> list[Session]:
    """Four sessions, the latest first; the last one has a start that its steps contradict."""
    return [
        record([ActionDraft(kind="event")], key="no-time", imported_as="tau_bench"),
        record([at(3), at(2)], key="stated-earlier", started_at=NOON - timedelta(days=9)),
        record([ActionDraft(kind="event")], key="stated", started_at=NOON + timedelta(days=1)),
        record([at(0)], key="stated-later", started_at=NOON + timedelta(days=5)),
    ]


def keys(project: Project, **query: str) -> list[str]:
    return [each.key for each in sessions_page(project, SessionQuery(**query)).sessions]  # type: ignore[arg-type]


def test_sessions_are_listed_by_the_first_start_of_a_step(project: Project, sessions: list[Session]) -> None:
    assert keys(project) == [each.key for each in sessions]


def test_pages_of_one_session_have_the_same_order(project: Project, sessions: list[Session]) -> None:
    seen: list[str] = []
    after = None
    while len(seen) < len(sessions):
        found = sessions_page(project, SessionQuery(), after, limit=1)
        seen += [each.key for each in found.sessions]
        after = found.next
    assert (seen, after) == ([each.key for each in sessions], None)


@pytest.mark.usefixtures("sessions")
def test_a_range_of_days_is_about_the_first_step_and_matches_no_session_without_times(
    project: Project,
) -> None:
    assert keys(project, since="2026-11-21") == ["stated-earlier", "stated"]
    assert keys(project, until="2026-11-21") == ["stated", "stated-later"]
    assert keys(project, since="2026-11-01") == ["stated-earlier", "stated", "stated-later"]
    assert keys(project, until="2099-01-01") == ["stated-earlier", "stated", "stated-later"]


def test_a_session_moves_when_an_earlier_step_arrives(project: Project, record: Record) -> None:
    first, second = record([at(2)], key="first"), record([at(1)], key="second")
    assert keys(project) == ["first", "second"]
    append(first.id, [at(0)])
    assert keys(project) == ["second", "first"]
    assert second.first_step_at == NOON + timedelta(days=1)


def test_copied_steps_are_not_part_of_the_sessions_time(record: Record) -> None:
    copied = ActionDraft(
        kind="message", started_at=NOON - timedelta(days=1), copied_from=copy_of("parent", 1)
    )
    only_copies = record([copied], key="copies", started_at=NOON)
    assert (only_copies.began_at, only_copies.duration_ms) == (NOON, None)
    fork = record([copied, at(0)], key="fork")
    assert (fork.began_at, fork.duration_ms) == (NOON, 1_000)


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("query", [{}, {"since": "2026-11-21"}, {"until": "2026-11-21"}])
def test_an_index_has_the_order_of_the_list(project: Project, query: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        for name in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{name} = off")
    plan = sessions_matching(project, SessionQuery(**query))[:50].explain()  # type: ignore[arg-type]
    assert "session_newest_first" in plan
    assert "Sort" not in plan
