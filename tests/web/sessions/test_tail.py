"""What is new in a session that is recorded, for a timeline that stands open."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.web.people import browser_of
from tests.web.timelines import HOSTILE, get, recorded, rows, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, end_session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


def events(count: int) -> list[ActionDraft]:
    return [ActionDraft(kind="event", output=f"step {n}") for n in range(1, count + 1)]


def said(page: str, name: str) -> str:
    found = re.search(rf'data-{name}="([^"]*)"', page)
    assert found
    return found[1]


def test_only_a_session_that_is_recorded_asks_for_its_news(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    page = get(operator, "/sessions/s/")
    assert said(page, "address") == f"/sessions/{session.id}/tail/"
    assert (said(page, "since"), said(page, "newest")) == ("3", "3")
    assert ">Follow</button>" in page
    end_session(session.id)
    page = get(operator, "/sessions/s/")
    assert 'id="tail"' not in page
    assert "Follow" not in page


def test_no_news_is_an_empty_answer_and_takes_few_queries(
    operator: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    recorded(project, events(3))
    with django_assert_num_queries(4):  # who asks (two), for which project, and the session
        answer = operator.get("/sessions/s/tail/?since=3")
    assert (answer.status_code, answer.content) == (204, b"")


def test_what_came_is_told_with_all_that_says_how_long_the_session_is(
    operator: Client, project: Project
) -> None:
    session = recorded(project, events(3))
    append(session.id, [ActionDraft(kind="tool_call", tool="Bash", error_type="Exit")])
    page = get(operator, "/sessions/s/tail/?since=3&step=3")
    assert rows(page) == [3, 4]
    assert [said(page, name) for name in ("since", "status", "new", "newest", "first", "last")] == [
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
    assert 'aria-label="Steps 1 to 4: tool 1, sys 3, 1 error"' in page


def test_the_end_of_the_session_is_news(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    end_session(session.id)
    page = get(operator, "/sessions/s/tail/?since=3")
    assert (said(page, "status"), said(page, "new")) == ("ended", "0")


def test_under_a_filter_only_its_steps_are_new(operator: Client, project: Project) -> None:
    session = recorded(project, events(3))
    append(session.id, [*events(2), ActionDraft(kind="message", output="Done.")])
    page = get(operator, "/sessions/s/tail/?since=3&filter=kind:message")
    assert rows(page) == [6]
    assert (said(page, "new"), said(page, "newest"), said(page, "since")) == ("1", "6", "6")
    assert "?step=6&amp;filter=kind:message#s6" in page
    none = get(operator, "/sessions/s/tail/?since=3&filter=kind:ask")
    assert (rows(none), said(none, "new"), said(none, "newest")) == ([], "0", "")


def test_a_page_that_is_far_behind_gets_a_window_and_the_way_on(operator: Client, project: Project) -> None:
    recorded(project, events(300))
    page = get(operator, "/sessions/s/tail/?since=10")
    assert rows(page) == list(range(10, 61))
    assert 'data-rows="240"' in page
    assert "?after=60" in page
    assert "?after=10&quot;" in page or '?after=10"' in page


def test_the_queries_for_news_do_not_grow_with_them(
    operator: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = recorded(project, events(3))
    counts = []
    for more in (1, 90):
        append(session.id, events(more))
        with django_assert_max_num_queries(16) as asked:
            operator.get("/sessions/s/tail/?since=3")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_recorded_values_are_only_text(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="tool_call", tool=HOSTILE, output=HOSTILE)])
    page = get(operator, "/sessions/s/tail/?since=0")
    assert rows(page) == [1]
    assert "<script" not in page
    assert "<img" not in page


@pytest.mark.parametrize("since", ["", "x", "-1", "9" * 30])
def test_a_place_that_is_none_is_no_error(operator: Client, project: Project, since: str) -> None:
    recorded(project, events(3))
    assert operator.get(f"/sessions/s/tail/?since={since}").status_code in {200, 204}


def test_a_session_without_steps_has_no_news_until_the_first(operator: Client, project: Project) -> None:
    session = recorded(project, [])
    assert operator.get("/sessions/s/tail/?since=0").status_code == 204
    end_session(session.id)
    assert said(get(operator, "/sessions/s/tail/?since=0"), "status") == "ended"


def test_another_projects_news_are_not_there(
    client: Client, project: Project, other_project: Project
) -> None:
    recorded(other_project, events(3))
    assert browser_of(project).get("/sessions/s/tail/").status_code == 404
    assert client.get("/sessions/s/tail/").status_code == 302
