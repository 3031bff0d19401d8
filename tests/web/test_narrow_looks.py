"""Narrow screens in a real browser: nothing is cut off, hidden or broken."""

import pytest
from django.conf import settings as configured
from playwright.sync_api import Browser
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.web.people import browser_of
from tests.web.test_looks import opened
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.deletion.retention.legal_holds import place
from timemachine.memory.patterns.clustering import update_patterns as read_patterns
from timemachine.memory.search.indexing import index_new_steps
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAME = "Orders of returning customers fail to load in the checkout of the shop"
FAILED = "TypeError: cannot read properties of undefined, reading the total of an order"
SOLVED = (
    "The price service answers with null for what was taken out of the catalogue; guard for it and log which."
)
LINES = """e => { const range = document.createRange(); range.selectNodeContents(e);
    return new Set([...range.getClientRects()].map(each => Math.round(each.top))).size; }"""


@pytest.fixture
def cookie(project: Project, settings: Settings) -> str:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    for key in ("one", "two"):
        made = start_session(project, name=NAME, by="test", key=key, agent="debugger")
        failed = [ActionDraft(kind="message", role="user", output=FAILED, significance="error")] * 3
        solved = ActionDraft(kind="message", role="agent", output=SOLVED, significance="solution")
        append(made.id, [*failed, solved])
        end_session(made.id)
        seal_session(made.id)
    index_new_steps(project.id)
    read_patterns(project.id)
    return str(browser_of(project).cookies[configured.SESSION_COOKIE_NAME].value)


def erase_output(session: Session) -> None:
    found = erasing.prepare(session, by="ada", fields=["output"], steps=[4])
    found = erasing.work(found.id) or found
    erasing.work(erasing.confirm(found, reason="asked for", by="ada").id)


def test_the_title_of_a_session_stays_readable_next_to_a_long_badge(
    chromium: Browser, live_server: LiveServer, project: Project, cookie: str
) -> None:
    erase_output(Session.objects.get(project=project, key="one"))
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/one/")
        assert "field erased, not checked" in page.locator(".head .where").inner_text()
        for width in (360, 900, 1100):
            page.set_viewport_size({"width": width, "height": 800})
            title = page.locator(".head h1").bounding_box()
            assert title is not None
            assert title["width"] > 180
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_significance_legal_holds_and_downloads_are_on_the_screen(
    chromium: Browser, live_server: LiveServer, project: Project, cookie: str
) -> None:
    place(project, reason="case 12", by="ada", sessions=[Session.objects.get(project=project, key="one")])
    with opened(chromium, live_server, cookie, viewport={"width": 360, "height": 780}) as page:
        page.goto(f"{live_server.url}/recall/?q=cannot+read+the+total")
        assert page.locator(".recalled .significance").first.is_visible()
        page.goto(f"{live_server.url}/")
        mark = page.locator(".sessions .held").bounding_box()
        row = page.locator(".sessions .name", has=page.locator(".held")).bounding_box()
        assert mark is not None
        assert row is not None
        assert mark["x"] + mark["width"] <= row["x"] + row["width"]
        assert mark["width"] > 0
        page.goto(f"{live_server.url}/sessions/one/export/")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for button in page.get_by_role("link", name="Download", exact=True).all():
            place_of_button = button.bounding_box()
            assert place_of_button is not None
            assert place_of_button["x"] + place_of_button["width"] <= 360


def test_no_agent_name_of_a_pattern_is_broken(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/patterns/")
        page.locator(".patterns a").first.click()
        page.locator(".in-sessions td:nth-child(2) bdi").first.wait_for()
        for width in (900, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            for agent in page.locator(".in-sessions td:nth-child(2) bdi").all():
                assert agent.evaluate(LINES) == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_tool_name_next_to_a_recalled_turn_takes_at_most_two_lines(
    chromium: Browser, live_server: LiveServer, project: Project, cookie: str
) -> None:
    made = start_session(project, name="Flights", by="test", key="flights")
    tool = ActionDraft(kind="tool_result", tool="update_reservation_flights", output="The flight was changed")
    append(made.id, [ActionDraft(kind="message", role="user", output="Which flight was changed?"), tool])
    index_new_steps(project.id)
    with opened(chromium, live_server, cookie, viewport={"width": 900, "height": 900}) as page:
        page.goto(f"{live_server.url}/recall/?q=which+flight+was+changed&around=1")
        name = page.locator(".around bdi", has_text="update_reservation_flights").first
        assert name.evaluate(LINES) <= 2
        assert page.evaluate("document.documentElement.scrollWidth") <= 900
