"""Suggestions in a real browser: keys select options, and the field keeps the focus."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.e2e.looking import AXE
from tests.web.people import chromium_of
from tests.web.timelines import example_actions, recorded
from timemachine.core.accounts.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, project: Project, settings: Settings) -> Iterator[Page]:
    """A timeline."""
    settings.ALLOWED_HOSTS = ["localhost"]
    recorded(project, example_actions())
    context = chromium_of(project, chromium, live_server)
    found = context.new_page()
    found.goto(f"{live_server.url}/sessions/s/")
    expect(found.locator("#step")).to_be_visible()
    found.wait_for_load_state()  # a key pressed before the scripts have loaded has no effect
    yield found
    context.close()


def test_keys_select_a_field_and_then_its_value(page: Page) -> None:
    field, options = page.locator("#filter"), page.locator("#suggestions").get_by_role("option")
    page.keyboard.press("f")
    page.keyboard.type("to")
    expect(options).to_have_count(3)
    expect(field).to_have_attribute("aria-expanded", "true")
    page.evaluate(AXE.read_text())
    assert page.evaluate("async () => (await axe.run()).violations.map(v => v.id)") == []
    page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "suggestion-1")
    page.keyboard.press("Enter")
    expect(field).to_have_value("tool:")
    expect(options).to_have_text(["Bash 2"])
    expect(field).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(field).to_have_value("tool:Bash ")
    expect(page.locator("#suggestions")).to_be_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?filter=tool%3ABash*")
    expect(page.locator(".row")).to_have_count(2)


def test_escape_closes_the_suggestions_and_keeps_the_input(page: Page) -> None:
    page.locator("#filter").click()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#suggestions").get_by_role("option").first).to_be_visible()
    page.keyboard.type("kind:")
    expect(page.locator("#suggestions").get_by_role("option")).to_have_count(5)
    page.keyboard.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    expect(page.locator("#filter")).to_have_value("kind:")
    expect(page.locator("#filter")).to_be_focused()


def test_a_click_selects_a_value(page: Page) -> None:
    page.locator("#filter").click()
    page.keyboard.type("kind:fi")
    options = page.locator("#suggestions").get_by_role("option")
    expect(options).to_have_text([re.compile("^find")])
    options.click()
    expect(page.locator("#filter")).to_have_value("kind:find ")
    expect(page.locator("#filter")).to_be_focused()
