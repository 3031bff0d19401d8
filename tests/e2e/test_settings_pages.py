"""The settings in a browser: the navigation beside them, and the message that something was done."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.product import Product

pytestmark = pytest.mark.browser

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_the_side_navigation_marks_what_is_read_and_leads_to_the_rest(ada: Page, product: Product) -> None:
    ada.goto(f"{product.url}/settings/")
    beside = ada.get_by_role("navigation", name="Settings")
    current = beside.locator("[aria-current]")
    expect(current).to_have_text("You")
    beside.get_by_role("link", name="API keys").click()
    expect(ada.locator("#keys")).to_be_in_viewport()
    expect(current).to_have_text("API keys")
    ada.evaluate("scrollTo(0, 0)")
    expect(current).to_have_text("You")
    beside.get_by_role("link", name="Models").click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Models")
    expect(current).to_have_text("Models")
    ada.set_viewport_size({"width": 360, "height": 800})
    beside.get_by_role("link", name="Retention").click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Retention")
    expect(current).to_have_text("Retention")
    expect(current).to_be_in_viewport()
    assert ada.evaluate(OVERFLOW) == 0


def test_what_was_done_floats_over_the_page_until_it_is_closed(ada: Page, product: Product) -> None:
    ada.goto(f"{product.url}/settings/")
    project = ada.locator("#project")
    project.get_by_role("textbox", name="Project name", exact=True).fill("Card desk")
    project.get_by_role("button", name="Rename project").click()
    toast = ada.get_by_role("status").filter(has_text="Project renamed.")
    expect(toast).to_be_visible()
    assert toast.evaluate("toast => getComputedStyle(toast).position") == "fixed"
    toast.get_by_role("button", name="Close this message").focus()
    ada.keyboard.press("Enter")
    expect(ada.get_by_text("Project renamed.")).to_have_count(0)
