"""An open timeline while a program records: new steps appear by themselves, and what the user reads does not move."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.product import Product

pytestmark = pytest.mark.browser
Record = Callable[..., None]
SHIFTS = "() => new Promise(next => requestAnimationFrame(() => requestAnimationFrame(() => { window.shift = 0; new PerformanceObserver(l => l.getEntries().forEach(e => { shift += e.value })).observe({type: 'layout-shift'}); next() })))"


@pytest.fixture
def api(product: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture
def session(api: httpx.Client) -> str:
    """A session in progress, still without steps."""
    return str(api.post("/sessions", json={"name": "Under way"}).json()["id"])


@pytest.fixture
def record(api: httpx.Client, session: str) -> Record:
    """A function that records steps as another client."""

    def _record(count: int, kind: str = "event") -> None:
        actions = [{"kind": kind, "output": f"{kind} {n}"} for n in range(count)]
        api.post(f"/sessions/{session}/actions", json={"actions": actions}).raise_for_status()

    return _record


def to_the_end(page: Page) -> None:
    page.evaluate("(box => { box.scrollTop = box.scrollHeight })(document.querySelector('.list'))")


def test_new_steps_appear_at_the_end_of_the_list_and_nothing_else_moves(
    ada: Page, product: Product, session: str, record: Record, api: httpx.Client
) -> None:
    record(40)
    ada.goto(f"{product.url}/sessions/{session}/?step=7")
    to_the_end(ada)
    expect(ada.locator("#s40")).to_be_in_viewport()
    ada.locator("#filter").focus()
    ada.evaluate(SHIFTS)
    record(3)
    expect(ada.locator("#s43")).to_be_in_viewport()
    expect(ada.locator(".navigator .of")).to_have_text("of 43")
    expect(ada.locator(".totals p")).to_contain_text("43 steps")
    expect(ada.locator("#scrubber")).to_have_attribute("max", "43")
    expect(ada.locator("#live")).to_have_text("3 new steps")
    expect(ada.locator("#filter")).to_be_focused()
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "7")
    assert ada.evaluate("shift") <= 0.02
    api.post(f"/sessions/{session}/end").raise_for_status()
    expect(ada.locator(".marks .status:not(.seal)")).to_have_text("ended")
    expect(ada.get_by_role("button", name="End session")).to_be_hidden()
    expect(ada.locator("#live")).to_have_text("The session has ended")
    requested: list[str] = []
    ada.on("request", lambda request: requested.append(request.url))
    ada.wait_for_timeout(2_500)
    assert requested == []


def test_away_from_the_end_a_line_counts_new_steps_and_links_to_them(
    ada: Page, product: Product, session: str, record: Record
) -> None:
    record(300)
    ada.goto(f"{product.url}/sessions/{session}/?step=2")
    expect(ada.locator("#s2")).to_be_in_viewport()
    record(12)
    expect(ada.locator(".newer")).to_have_text("12 new steps · go to the end")
    record(1)
    expect(ada.locator(".newer")).to_contain_text("13 new steps")
    expect(ada.locator("#s2")).to_be_in_viewport()
    ada.get_by_role("button", name="go to the end").click()
    expect(ada.locator("#s313")).to_be_in_viewport()
    expect(ada.locator(".newer")).to_be_hidden()
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "2")
    record(1)
    expect(ada.locator("#s314")).to_be_in_viewport()


def test_following_selects_the_newest_step_until_another_is_selected(
    ada: Page, product: Product, session: str, record: Record
) -> None:
    record(5)
    ada.goto(f"{product.url}/sessions/{session}/")
    follow = ada.get_by_role("button", name="Follow")
    follow.click()
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "5")
    record(2)
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "7")
    expect(follow).to_have_attribute("aria-pressed", "true")
    expect(follow).to_be_focused()
    assert ada.url.endswith("?step=7")
    ada.locator("#s3 > a").click()
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "3")
    record(1)
    expect(follow).to_have_attribute("aria-pressed", "false")
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "3")


def test_with_a_filter_only_matching_steps_appear(
    ada: Page, product: Product, session: str, record: Record
) -> None:
    record(2)
    ada.goto(f"{product.url}/sessions/{session}/?filter=kind:message")
    expect(ada.locator(".nomatch")).to_be_visible()
    record(2)
    expect(ada.locator(".navigator .of")).to_have_text("of 4")
    record(1, "message")
    expect(ada.locator("#s5")).to_be_visible()
    expect(ada.locator(".row")).to_have_count(1)
    expect(ada.locator(".totals p")).to_contain_text("1 of 5 steps")


def test_the_first_step_of_an_empty_session_appears_by_itself(
    ada: Page, product: Product, session: str, record: Record
) -> None:
    ada.goto(f"{product.url}/sessions/{session}/")
    expect(ada.get_by_text("Nothing recorded yet")).to_be_visible()
    record(1)
    expect(ada.locator("#s1")).to_be_visible()
    record(1)
    expect(ada.locator("#s2")).to_be_visible()
