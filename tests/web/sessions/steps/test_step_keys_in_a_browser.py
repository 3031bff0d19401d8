"""The keys of a step in a real browser: pin and compare, copy its link, replay from it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.builders import recorded_session
from tests.web.people import chromium_of
from timemachine.core.accounts.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, project: Project, settings: Settings) -> Iterator[Page]:
    """The second step of a session, opened by an operator."""
    settings.ALLOWED_HOSTS = ["localhost"]
    recorded_session(project, key="s")
    context = chromium_of(
        project,
        chromium,
        live_server,
        viewport={"width": 1440, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
    )
    found = context.new_page()
    found.goto(f"{live_server.url}/sessions/s/?step=2")
    expect(found.locator("#step")).to_be_visible()
    found.wait_for_load_state()
    yield found
    context.close()


def test_b_pins_a_step_and_d_compares_every_other_with_it_and_goes_back(page: Page) -> None:
    page.keyboard.press("b")
    expect(page.get_by_role("link", name="Unpin this step")).to_be_visible()
    expect(page).to_have_url(re.compile("pin=2"))
    page.keyboard.press("J")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")
    page.keyboard.press("d")
    expect(page.locator("#against-head")).to_contain_text("Compared with the pinned step 2")
    page.keyboard.press("J")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "6")
    expect(page.locator("#against-head")).to_contain_text("Compared with the pinned step 2")
    page.keyboard.press("n")
    expect(page.locator("[data-difference]").first).to_be_focused()
    page.keyboard.press("d")
    expect(page.locator("#step .tabs [aria-current]")).to_have_text("Action")
    page.locator("#s4 > a").first.click()
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")
    expect(page).to_have_url(re.compile("pin=2"))
    page.keyboard.press("3")
    expect(page.locator("#against-head")).to_contain_text("Compared with the pinned step 2")
    page.get_by_role("link", name="Unpin", exact=True).click()
    expect(page.locator("#against-head")).to_contain_text("Compared with the previous step 3")
    expect(page).not_to_have_url(re.compile("pin="))


def test_home_and_end_go_to_the_ends_of_the_session_and_scroll_a_step_that_is_read(page: Page) -> None:
    shown = page.locator("#step")
    last = page.locator("#goto").get_attribute("max") or ""
    page.keyboard.press("End")
    expect(shown).to_have_attribute("data-sequence", last)
    expect(page.locator(f"#s{last} > [aria-current]")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Last step")).to_be_disabled()
    page.keyboard.press("Home")
    expect(shown).to_have_attribute("data-sequence", "1")
    page.locator("#step .tabs").click(position={"x": 2, "y": 2})
    page.locator(".detail").focus()
    page.keyboard.press("End")
    page.keyboard.press("j")
    expect(shown).to_have_attribute("data-sequence", "2")


def test_y_copies_the_permanent_link_of_a_step_or_opens_it_without_a_clipboard(
    page: Page,
) -> None:
    page.keyboard.press("J")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")
    page.keyboard.press("y")
    expect(page.locator("#live")).to_have_text("Link copied")
    expect(page.get_by_role("link", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"http://localhost:\d+/sessions/[0-9a-f-]{36}/\?step=4", copied)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('closed')); }")
    page.keyboard.press("y")
    page.wait_for_url(copied)
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")


def test_the_list_of_keys_names_every_key_of_a_step_and_r_opens_its_replay(page: Page) -> None:
    keys = {
        key
        for written in page.evaluate("[...document.querySelectorAll('[data-key]')].map(e => e.dataset.key)")
        for key in written.split(" ")
    }
    page.keyboard.press("?")
    listed = set(page.locator("#keys dt kbd").all_inner_texts())
    assert keys - listed - {"2", "3", "4"} == set()
    page.keyboard.press("Escape")
    page.keyboard.press("J")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")
    page.keyboard.press("r")
    expect(page.get_by_label("From step")).to_have_value("4")


def test_an_empty_filter_says_how_to_write_one(page: Page) -> None:
    page.get_by_label("Filter").click()
    phrase, minus = (page.locator("#suggestions [role=option]").nth(place) for place in (0, 1))
    expect(phrase).to_have_text('"" steps with this phrase')
    expect(minus).to_have_text("- leaves out what follows, as in -timeout")
    minus.click()
    expect(page.get_by_label("Filter")).to_have_value("-")
    page.get_by_label("Filter").press_sequentially("kind:f")
    page.get_by_role("option", name="find").click()
    expect(page.get_by_label("Filter")).to_have_value("-kind:find ")


def test_escape_restores_a_field_and_reactivates_the_keys(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.type("9999")
    page.keyboard.press("Escape")
    expect(page.get_by_label("step", exact=True)).to_have_value("2")
    page.keyboard.press("j")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "3")
    page.keyboard.press("f")
    page.keyboard.type("ki")
    expect(page.locator("#suggestions")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    expect(page.get_by_label("Filter")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#step")).to_have_attribute("data-sequence", "4")


def test_a_filter_is_cleared_or_loses_a_term_without_losing_the_step(page: Page) -> None:
    address = page.url.partition("?")[0]
    page.goto(f"{address}?filter=-kind:ask")
    page.wait_for_load_state()
    shown = page.locator("#step")
    first = shown.get_attribute("data-sequence")
    page.keyboard.press("j")
    expect(shown).not_to_have_attribute("data-sequence", first or "")
    chosen = shown.get_attribute("data-sequence") or ""
    page.get_by_role("link", name="Clear filters").click()
    expect(page).to_have_url(re.compile(rf"step={chosen}\b"))
    expect(page.locator("#step")).to_have_attribute("data-sequence", chosen)
    page.goto(f"{address}?filter=-zzz&step={chosen}")
    page.get_by_title("Remove this term").first.click()
    expect(page.locator("#step")).to_have_attribute("data-sequence", chosen)
