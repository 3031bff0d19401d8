"""Unexpected input from users and recordings: every page answers it with a page."""

import html

import pytest
from django.test import Client

from tests.web.people import browser_of
from tests.web.timelines import get
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def test_a_price_of_any_type_is_shown(project: Project) -> None:
    odd = (True, None, {"usd": 3}, "3 EUR", 10**40, -0.5)
    session = start_session(project, name="Odd", by="test", key="s")
    prices = [{"per_million_tokens": {"input": price}} for price in odd]
    append(session.id, [ActionDraft(kind="llm_call", model="a:b", prices=each) for each in prices])
    browser = browser_of(project)
    for step in range(1, len(odd) + 1):
        assert "per million tokens" in get(browser, f"/sessions/s/?step={step}", "article#step")


def test_an_impossible_address_gets_an_error_page(project: Project) -> None:
    browser = browser_of(project)
    for path in (
        "/collections/?after=%00",
        "/collections/%00/",
        "/sessions/new/?collection=%00",
        "/sessions/new/?collection=nowhere",
        "/sessions/%00/",
        "/sessions/%00/work/",
        "/sessions/%00/notes/",
        "/sessions/%00/replay/",
        "/sessions/%00/share/",
        "/replays/%00/",
        "/shares/?after=%00",
    ):
        answer = browser.get(path)
        assert answer.status_code in {404, 422}, path
        assert any(start in answer.text for start in ("does not exist", "There is no", "Invalid page")), path


@pytest.mark.parametrize(
    "path", ["/share/%00/", "/share/%00", "/share/%00/steps/1/", "/share/%00/payloads/a/"]
)
def test_a_visitor_with_an_odd_address_gets_the_same_page_as_every_visitor(
    project: Project, path: str
) -> None:
    answer = Client().get(path)
    assert answer.status_code in {
        200,
        404,
    }  # without a trailing slash it is the opening page, the same for every token
    assert answer["Cache-Control"] == "no-store, private"


def test_a_session_is_not_started_in_a_collection_with_an_odd_name(project: Project) -> None:
    answer = browser_of(project).post("/sessions/new/", {"name": "n", "collection": "\x00"})
    assert answer.status_code == 422
    assert not Session.objects.exists()


@pytest.mark.parametrize("path", ["/?agent=a&agent=b", "/search/?q=x&tag=a&tag=b", "/costs/?by=model&by=day"])
def test_a_filter_that_is_given_twice_is_refused_by_name(project: Project, path: str) -> None:
    answer = browser_of(project).get(path)
    assert answer.status_code == 422
    assert (
        f"“{path.rsplit('&', maxsplit=1)[-1].split('=', maxsplit=1)[0]}” appears twice in the URL"
        in html.unescape(answer.content.decode())
    )


def test_transcript_roles_and_compared_sessions_may_be_given_several_times(
    project: Project,
) -> None:
    for key in ("a", "b"):
        start_session(project, name=key, by="test", key=key)
    browser = browser_of(project)
    assert browser.get("/sessions/a/transcript/?role=user&role=agent").status_code == 200
    assert browser.get("/compare/?run=session:a&run=session:b", follow=True).status_code != 422
