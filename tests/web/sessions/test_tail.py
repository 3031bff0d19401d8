"""Updates of a session in progress, for an open timeline."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from tests.web.timelines import HOSTILE, get, recorded, rows, words
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.growing import import_lines
from timemachine.recording.sessions.commands import append, end_session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


def events(count: int) -> list[ActionDraft]:
    return [ActionDraft(kind="event", output=f"step {n}") for n in range(1, count + 1)]


def data_value(page: str, name: str) -> str:
    found = re.search(rf'data-{name}="([^"]*)"', page)
    assert found
    return found[1]


def test_only_a_session_in_progress_polls_for_updates(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    page = get(operator, "/sessions/s/")
    assert data_value(page, "address") == f"/sessions/{session.id}/tail/"
    assert (data_value(page, "since"), data_value(page, "newest")) == ("3", "3")
    assert ">Follow</button>" in page
    end_session(session.id)
    page = get(operator, "/sessions/s/")
    assert 'id="tail"' not in page
    assert "Follow" not in page


def test_an_imported_session_is_followed_while_its_file_is_being_written(
    operator: Client, project: Project
) -> None:
    def line(number: int, *, minutes_ago: float) -> str:
        said = {"role": "user", "content": f"Question {number}"}
        at = (now() - timedelta(minutes=minutes_ago)).isoformat()
        return json.dumps(
            {"type": "user", "uuid": f"u{number}", "sessionId": "s", "timestamp": at, "message": said}
        )

    import_lines(project, [line(1, minutes_ago=30)], format_name="claude_code", by="watch", idle=90)
    assert 'id="tail"' not in get(operator, "/sessions/s/")
    lines = [line(1, minutes_ago=30), line(2, minutes_ago=1)]
    import_lines(project, lines, format_name="claude_code", by="watch", idle=90)
    page = get(operator, "/sessions/s/")
    assert (data_value(page, "status"), page.count(">not yet<")) == ("growing", 1)
    assert "growing" in words(get(operator, "/"))
    assert rows(get(operator, "/sessions/s/tail/?since=1&status=growing")) == [1, 2]
    assert operator.get("/sessions/s/tail/?since=2&status=growing").status_code == 204


def test_without_updates_the_answer_is_empty_and_needs_few_queries(
    operator: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    recorded(project, events(3))
    with django_assert_num_queries(4):  # the user (two), the project, and the session
        answer = operator.get("/sessions/s/tail/?since=3")
    assert (answer.status_code, answer.content) == (204, b"")


def test_an_update_has_the_new_steps_and_everything_that_shows_the_length(
    operator: Client, project: Project
) -> None:
    session = recorded(project, events(3))
    append(session.id, [ActionDraft(kind="tool_call", tool="Bash", error_type="Exit")])
    page = get(operator, "/sessions/s/tail/?since=3&step=3")
    assert rows(page) == [3, 4]
    assert [data_value(page, name) for name in ("since", "status", "new", "newest", "first", "last")] == [
        "4",
        "recording",
        "1",
        "4",
        "1",
        "4",
    ]
    for word in ("4 steps", "of 4", "tool call 1", "errors 1"):
        assert word in words(page)
    assert 'href="?step=4#s4"' in page
    assert 'aria-label="Steps 1 to 4, tools 1, system 3, 1 error"' in page


def test_the_end_of_the_session_is_an_update(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    end_session(session.id)
    page = get(operator, "/sessions/s/tail/?since=3")
    assert (data_value(page, "status"), data_value(page, "new")) == ("ended", "0")


def test_with_a_filter_only_matching_steps_are_new(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    append(session.id, [*events(2), ActionDraft(kind="message", output="Done.")])
    page = get(operator, "/sessions/s/tail/?since=3&filter=kind:message")
    assert rows(page) == [6]
    assert (data_value(page, "new"), data_value(page, "newest"), data_value(page, "since")) == ("1", "6", "6")
    assert "?step=6&amp;filter=kind:message#s6" in page
    none = get(operator, "/sessions/s/tail/?since=3&filter=kind:ask")
    assert (rows(none), data_value(none, "new"), data_value(none, "newest")) == ([], "0", "")


def test_a_page_that_is_far_behind_gets_a_window_and_a_link_to_the_next(
    operator: Client, project: Project
) -> None:
    recorded(project, events(300))
    page = get(operator, "/sessions/s/tail/?since=10")
    assert rows(page) == list(range(10, 61))
    assert 'data-rows="240"' in page
    assert "?after=60" in page
    assert "?after=10&quot;" in page or '?after=10"' in page


def test_the_number_of_queries_does_not_grow_with_updates(
    operator: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = recorded(project, events(3))
    counts = []
    for more in (1, 90):
        append(session.id, events(more))
        with django_assert_max_num_queries(16) as captured:
            operator.get("/sessions/s/tail/?since=3")
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_recorded_values_are_escaped(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="tool_call", tool=HOSTILE, output=HOSTILE)])
    page = get(operator, "/sessions/s/tail/?since=0")
    assert rows(page) == [1]
    assert "<script" not in page
    assert "<img" not in page


@pytest.mark.parametrize("since", ["", "x", "-1", "9" * 30])
def test_an_invalid_position_is_not_an_error(operator: Client, project: Project, since: str) -> None:
    recorded(project, events(3))
    assert operator.get(f"/sessions/s/tail/?since={since}").status_code in {200, 204}


def test_a_session_without_steps_has_no_update_until_it_changes(operator: Client, project: Project) -> None:
    session = recorded(project, [])
    assert operator.get("/sessions/s/tail/?since=0").status_code == 204
    end_session(session.id)
    assert data_value(get(operator, "/sessions/s/tail/?since=0"), "status") == "ended"
