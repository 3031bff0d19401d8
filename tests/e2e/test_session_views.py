"""A long session in its other views: pages are turned, keys and the minimap lead on, and the page never grows."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

STEPS = 2_000
FAILED = 1_234
MOST_NODES = 2_500
NODES = "document.querySelectorAll('*').length"


@pytest.fixture(scope="module")
def session(product: Product) -> Iterator[str]:
    """A session of so many steps, calls and their results among them, one of them failed."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as client:
        assert client.post("/sessions", json={"name": "Long run", "key": "long"}).status_code == 201
        for first in range(1, STEPS + 1, 500):
            actions = [action(number) for number in range(first, first + 500)]
            assert client.post("/sessions/long/actions", json={"actions": actions}).status_code == 201
        yield f"{product.url}/sessions/long/"


def action(number: int) -> dict[str, object]:
    """A call, its result, and a message, again and again."""
    failed = {"error": {"type": "Timeout", "message": "Gave up"}} if number == FAILED else {}
    turn = number // 3
    kinds: list[dict[str, object]] = [
        {"kind": "tool_call", "tool": "read", "call_id": str(turn)},
        {"kind": "tool_result", "tool": "read", "call_id": str(turn)},
        {"kind": "message"},
    ]
    return kinds[number % 3] | {"output": f"what step {number} said", "duration_ms": number} | failed


@pytest.fixture
def desk(ada: Page) -> Page:
    """A page on a desk's screen."""
    return ada


def at_step(page: Page, sequence: int) -> None:
    expect(page.locator("#goto")).to_have_value(str(sequence))


def test_the_table_turns_its_pages_and_keys_select_a_row_without_moving_it(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=500")
    desk.get_by_role("link", name="Table").click()
    expect(desk.locator("#s500 [aria-current=step]")).to_be_visible()
    expect(desk.locator("#step")).to_have_count(0)
    top = desk.locator("#s495").bounding_box()
    desk.keyboard.press("j")
    expect(desk.locator("#s501 [aria-current=step]")).to_be_visible()
    assert desk.locator("#s495").bounding_box() == top
    desk.get_by_role("link", name="Later steps").click()
    expect(desk.locator("#s575")).to_be_attached()
    expect(desk.locator("#s501")).to_have_count(0)
    desk.keyboard.press("e")
    at_step(desk, FAILED)
    expect(desk.locator(f"#s{FAILED} [aria-current=step]")).to_be_visible()
    assert desk.evaluate(NODES) <= MOST_NODES
    desk.go_back()
    expect(desk.locator("#s575")).to_be_attached()
    desk.locator("#s580 a").click()
    expect(desk.locator('#step[data-sequence="580"]')).to_be_visible()


def test_the_minimap_leads_on_in_a_view_without_details(desk: Page, session: str) -> None:
    for view in ("table", "raw"):
        desk.goto(f"{session}?view={view}&totals=kind")
        box = desk.locator("#minimap svg").bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        desk.mouse.click(box["x"] + box["width"] / 2, middle)
        expect(desk).to_have_url(re.compile(rf"view={view}.*step="))
        expect(desk.locator('[aria-current="step"]')).to_have_count(1)
        chosen = int(desk.locator("#goto").input_value())
        assert abs(chosen - STEPS / 2) < 10
        desk.mouse.move(box["x"] + box["width"] * 0.2, middle)
        desk.mouse.down()
        desk.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=4)
        desk.mouse.up()
        expect(desk.get_by_role("link", name=re.compile("^steps 40"))).to_be_visible()
        expect(desk.get_by_label("Totals of these steps")).to_contain_text(re.compile(r"\b(19|20)\d steps"))


def test_a_row_that_stands_for_several_steps_opens_as_they_are_walked_through(
    desk: Page, session: str
) -> None:
    desk.goto(f"{session}?view=compact&step=902")
    expect(desk.locator("#s903")).to_contain_text("903–904")
    for sequence in (903, 904, 905):
        desk.keyboard.press("j")
        expect(desk.locator(f"#s{sequence} > [aria-current=step]")).to_be_in_viewport()
        expect(desk.locator("#step")).to_have_attribute("data-sequence", str(sequence))


def test_the_compact_list_scrolls_through_the_session_and_never_grows(desk: Page, session: str) -> None:
    desk.goto(f"{session}?view=compact")
    box = desk.locator(".list").bounding_box()
    assert box is not None
    desk.mouse.move(box["x"] + 50, box["y"] + 50)

    def scrolled_to_the_end() -> bool:
        desk.mouse.wheel(0, 2_400)
        desk.wait_for_timeout(60)
        assert desk.evaluate(NODES) <= MOST_NODES
        return int((desk.locator(".row").last.get_attribute("id") or "")[1:]) >= STEPS - 2

    def scrolled_to_the_start() -> bool:
        desk.mouse.wheel(0, -2_400)
        desk.wait_for_timeout(60)
        return desk.locator("#s1").count() == 1

    wait_until(scrolled_to_the_end)
    rows = desk.evaluate("[...document.querySelectorAll('.row')].map(row => Number(row.id.slice(1)))")
    assert rows == sorted(set(rows))
    wait_until(scrolled_to_the_start)
    assert desk.evaluate(NODES) <= MOST_NODES


def test_totals_open_above_the_list_and_lead_to_their_steps(desk: Page, session: str) -> None:
    desk.goto(session)
    desk.get_by_role("link", name="Totals").click()
    panel = desk.get_by_label("Totals of these steps")
    expect(panel).to_contain_text("2,000 steps")
    panel.get_by_role("link", name="Tool", exact=True).click()
    expect(panel.get_by_role("rowheader")).to_have_count(2)
    panel.get_by_role("link", name="read").click()
    expect(desk.locator(".totals")).to_contain_text("1,333 of 2,000 steps")
    expect(panel).to_contain_text("1,333 steps")
    desk.get_by_role("link", name="Totals", exact=True).click()
    expect(panel).to_have_count(0)
    expect(desk.locator(".totals")).to_contain_text("1,333 of 2,000 steps")
