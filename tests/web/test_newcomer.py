"""A newcomer without JavaScript gets to the timeline of a first session. With JavaScript: tests/e2e/test_newcomer.py."""

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.core.accounts.people import PASSWORD, member
from tests.web.handbook import FACTS
from tests.web.sessions.workbench import kinds
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_newcomer_without_javascript_gets_to_the_timeline_of_a_first_session(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    member(project, "operator", "new@example.org")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    _sign_in(page, live_server.url)
    _put_three(page, live_server.url)
    page.get_by_role("link", name="Start a session").click()
    page.get_by_label("Name", exact=True).fill("My first session")
    page.get_by_role("button", name="Start session").click()
    page.get_by_role("link", name="Find, ask and put").click()
    _record(page, "Find", "how long are invoices kept", "shredded by the archive team")
    _record(page, "Ask", "In which class are train tickets booked?", "second class")
    page.get_by_role("button", name="End session").click()
    expect(page.get_by_role("heading", name="My first session")).to_be_visible()
    expect(page.locator("main")).to_contain_text("ended")
    context.close()
    assert complaints == []
    session = Session.objects.get()
    assert (kinds(session), session.status) == (["find", "ask", "find"], "ended")


def _sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/collections/")
    page.get_by_label("E-mail").fill("new@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def _put_three(page: Page, url: str) -> None:
    page.get_by_label("Name", exact=True).fill("Handbuch für alle")
    page.get_by_role("button", name="Create collection").click()
    for fact in FACTS:
        page.get_by_label("Title").fill(fact.title)
        page.get_by_label("Text", exact=True).fill(fact.text)
        page.get_by_role("button", name="Add passage").click()
        page.get_by_role("link", name=fact.title).wait_for()


def _record(page: Page, what: str, text: str, expected: str) -> None:
    page.get_by_label(what, exact=True).check()
    page.get_by_label("Question or query").fill(text)
    page.get_by_role("button", name="Record").click()
    page.locator("#done").get_by_text(expected).first.wait_for()
