"""The five main tasks with the keyboard alone: walk, search, replay, compare, share. The focus is always visible."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

MOST_TABS = 250
FOCUS_IS_VISIBLE = """() => {
    const focused = document.activeElement;
    const marks = [focused, focused.closest("label, tr, li")].filter(Boolean).map(each => getComputedStyle(each));
    return marks.some(style => style.outlineStyle !== "none" || style.boxShadow !== "none");
}"""


@pytest.fixture(scope="module")
def demo(product: Product) -> Iterator[str]:
    """The demo's session, as soon as a worker has indexed its steps."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        made = client.post("/demo").json()
        other = {"name": "Another run", "key": "other"}
        assert client.post("/sessions", json=other).status_code == 201
        action = {"kind": "message", "output": "Only a word."}
        assert client.post("/sessions/other/actions", json={"actions": [action]}).status_code == 201
        wait_until(lambda: client.get("/search", params={"q": "courier"}).json()["not_indexed"] == 0)
        yield str(made["session"]["id"])


def tab_to(page: Page, locator: Locator) -> None:
    """Press Tab until the element has the focus, and check that the focus is visible."""
    target = locator.first.element_handle()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement === wanted", target):
            assert page.evaluate(FOCUS_IS_VISIBLE), f"the focus is not seen on {locator}"
            return
    pytest.fail(f"{MOST_TABS} presses of Tab did not reach {locator}.")


def press(page: Page, locator: Locator) -> None:
    """Move to the element with Tab, and press Enter."""
    tab_to(page, locator)
    page.keyboard.press("Enter")


def test_a_session_can_be_walked_by_keyboard(ada: Page, product: Product, demo: str) -> None:
    ada.goto(product.url)
    ada.keyboard.press("Tab")
    assert ada.evaluate("document.activeElement.className") == "skip"
    ada.keyboard.press("Enter")
    press(ada, ada.locator("tbody th a", has_text="Demo"))
    ada.wait_for_url("**/sessions/**")
    for key, step in (("j", 2), ("j", 3), ("k", 2), ("J", 6)):
        ada.keyboard.press(key)
        expect(ada.locator(f'#step[data-sequence="{step}"]')).to_be_attached()
    for number, tab in enumerate(("Action", "State", "Diff", "Context", "Raw"), 1):
        ada.keyboard.press(str(number))
        expect(ada.locator("#step .tabs [aria-current]")).to_have_text(tab)
    ada.keyboard.press("g")
    ada.keyboard.type("8")
    ada.keyboard.press("Enter")
    expect(ada.locator('#step[data-sequence="8"]')).to_be_attached()
    ada.keyboard.press("f")
    ada.keyboard.type("kind:find")
    expect(ada.locator("#suggestions")).to_be_visible()
    ada.keyboard.press("Escape")
    ada.keyboard.press("Enter")
    ada.wait_for_url("**filter=kind**")
    expect(ada.locator("#s5")).to_be_visible()
    expect(ada.locator("#s8")).to_have_count(0)
    expect(ada.locator(".row > [aria-current]")).to_be_focused()


def test_a_step_can_be_searched_for_by_keyboard(ada: Page, product: Product, demo: str) -> None:
    ada.goto(product.url)
    ada.keyboard.press("/")
    ada.keyboard.type("courier")
    ada.keyboard.press("Enter")
    ada.wait_for_url("**/search/**")
    press(ada, ada.locator(".found-steps a"))
    ada.wait_for_url("**/sessions/**step=**")
    expect(ada.locator("#step")).to_be_visible()


def test_a_replay_can_be_launched_by_keyboard(ada: Page, product: Product, demo: str) -> None:
    ada.goto(f"{product.url}/sessions/{demo}/?step=2")
    ada.keyboard.press("r")
    ada.wait_for_url("**/replay/**")
    tab_to(ada, ada.get_by_label("Reason"))
    ada.keyboard.type("A look without a mouse")
    press(ada, ada.get_by_role("button", name="Launch replay"))
    ada.wait_for_url("**/replays/**")
    expect(ada.locator(".outcome")).to_contain_text(re.compile("context verified", re.IGNORECASE))
    press(ada, ada.locator(".replay-steps a.verdict, .replay-steps a"))
    expect(ada.get_by_role("heading", name=re.compile("^Recorded")).first).to_be_visible()


def test_two_sessions_can_be_compared_by_keyboard(ada: Page, product: Product, demo: str) -> None:
    ada.goto(product.url)
    for name in ("Demo", "Another run"):
        tab_to(ada, ada.locator("tbody tr", has_text=name).locator("input[type=checkbox]"))
        ada.keyboard.press("Space")
        ada.keyboard.press("Home")
        ada.evaluate("document.activeElement.blur()")
    press(ada, ada.locator("#compare-ticked"))
    ada.wait_for_url(re.compile(r"/compare/\?.*"))
    expect(ada.locator("h1")).to_be_visible()
    expect(ada.locator("main")).to_contain_text("Another run")


def test_a_session_can_be_shared_by_keyboard(ada: Page, product: Product, demo: str) -> None:
    ada.goto(f"{product.url}/sessions/{demo}/")
    press(ada, ada.get_by_role("link", name="Share", exact=True))
    ada.wait_for_url("**/share/**")
    tab_to(ada, ada.get_by_label("Audience"))
    ada.keyboard.type("The auditor")
    press(ada, ada.get_by_role("button", name="Create link"))
    made = ada.locator("#shown_once, .once input, code").first
    expect(made).to_be_visible()
    ada.goto(f"{product.url}/shares/")
    press(ada, ada.get_by_role("button", name="Revoke"))
    expect(ada.locator("main")).to_contain_text("revoked")
