"""Notes in a real browser: their key, and the scroll position at the address of a note."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.web.people import chromium_of
from tests.web.timelines import example_actions, recorded
from timemachine.core.accounts.models import Project
from timemachine.recording.annotations.notes.commands import add

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, project: Project, settings: Settings) -> Iterator[Page]:
    """The second step of a session, in a low window."""
    settings.ALLOWED_HOSTS = ["localhost"]
    session = recorded(project, example_actions())
    for number in range(12):
        add(session, 2, f"Note {number + 1}.", by="anna@example.org")
    context = chromium_of(project, chromium, live_server, viewport={"width": 1200, "height": 600})
    found = context.new_page()
    found.goto(f"{live_server.url}/sessions/s/?step=2")
    expect(found.locator("#step")).to_be_visible()
    found.wait_for_load_state()  # a key pressed before the scripts have loaded has no effect
    yield found
    context.close()


def in_view(page: Page, selector: str) -> bool:
    """Return whether the element is visible in its pane while the page itself is not scrolled."""
    expect(page.locator(selector)).to_be_in_viewport()
    return bool(page.evaluate("scrollY === 0 && document.documentElement.scrollHeight === innerHeight"))


def test_the_address_of_a_note_scrolls_its_pane_and_not_the_page(page: Page) -> None:
    page.locator(".step-note a").last.click()
    expect(page.locator(".step-note:target")).to_contain_text("Note 12.")
    assert in_view(page, ".step-note:target")


def test_p_focuses_the_field_and_a_refusal_is_in_view(page: Page) -> None:
    page.keyboard.press("j")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "3")
    page.keyboard.press("p")
    page.keyboard.type("jk")
    expect(page.locator("#note_text")).to_have_value("jk")
    page.get_by_role("button", name="Add note").click()
    expect(page.locator(".step-note:target")).to_contain_text("jk")
    page.goto(page.url.replace("step=3", "step=2"))
    page.locator("#note_text").fill("x" * 2_001)
    page.get_by_role("button", name="Add note").click()
    expect(page.locator("#note_text")).to_be_focused()
    assert in_view(page, "#note_text_error")
