"""The other views of a long session: paging, keys and the minimap work, and the page stays small."""

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
    """A session of `STEPS` steps, calls and their results among them, one of them failed."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as client:
        assert client.post("/sessions", json={"name": "Long run", "key": "long"}).status_code == 201
        for first in range(1, STEPS + 1, 500):
            actions = [action(number) for number in range(first, first + 500)]
            assert client.post("/sessions/long/actions", json={"actions": actions}).status_code == 201
        yield f"{product.url}/sessions/long/"


def action(number: int) -> dict[str, object]:
    """A call, its result and a message in turn."""
    failed = {"error": {"type": "Timeout", "message": "Gave up"}} if number == FAILED else {}
    turn = number // 3
    kinds: list[dict[str, object]] = [
        {"kind": "tool_call", "tool": "read", "call_id": str(turn)},
        {"kind": "tool_result", "tool": "read", "call_id": str(turn)},
        {"kind": "message"},
    ]
    return kinds[number % 3] | {"output": f"what step {number} said", "duration_ms": number} | failed


@pytest.fixture
def desktop(ada: Page) -> Page:
    """A page at desktop size."""
    return ada


def at_step(page: Page, sequence: int) -> None:
    expect(page.locator("#goto")).to_have_value(str(sequence))


def test_the_table_is_paged_and_keys_select_a_row_without_moving_it(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=500")
    desktop.get_by_role("link", name="Table").click()
    expect(desktop.locator("#s500 [aria-current=step]")).to_be_visible()
    expect(desktop.locator("#step")).to_have_count(0)
    top = desktop.locator("#s495").bounding_box()
    desktop.keyboard.press("j")
    expect(desktop.locator("#s501 [aria-current=step]")).to_be_visible()
    assert desktop.locator("#s495").bounding_box() == top
    desktop.get_by_role("link", name="Later steps").click()
    expect(desktop.locator("#s575")).to_be_attached()
    expect(desktop.locator("#s501")).to_have_count(0)
    desktop.keyboard.press("e")
    at_step(desktop, FAILED)
    expect(desktop.locator(f"#s{FAILED} [aria-current=step]")).to_be_visible()
    assert desktop.evaluate(NODES) <= MOST_NODES
    desktop.go_back()
    expect(desktop.locator("#s575")).to_be_attached()
    desktop.locator("#s580 a").click()
    expect(desktop.locator('#step[data-sequence="580"]')).to_be_visible()


def test_the_minimap_works_in_a_view_without_step_details(desktop: Page, session: str) -> None:
    for view in ("table", "raw"):
        desktop.goto(f"{session}?view={view}&totals=kind")
        box = desktop.locator("#minimap .picture").bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        desktop.mouse.click(box["x"] + box["width"] / 2, middle)
        expect(desktop).to_have_url(re.compile(rf"view={view}.*step="))
        expect(desktop.locator('[aria-current="step"]')).to_have_count(1)
        chosen = int(desktop.locator("#goto").input_value())
        assert abs(chosen - STEPS / 2) < 10
        desktop.mouse.move(box["x"] + box["width"] * 0.2, middle)
        desktop.mouse.down()
        desktop.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=4)
        desktop.mouse.up()
        expect(desktop.get_by_role("link", name=re.compile("^steps 40"))).to_be_visible()
        expect(desktop.get_by_label("Totals of these steps")).to_contain_text(
            re.compile(r"\b(19|20)\d steps")
        )


def test_a_row_of_several_steps_expands_as_they_are_selected(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?view=compact&step=902")
    expect(desktop.locator("#s903")).to_contain_text("903–904")
    for sequence in (903, 904, 905):
        desktop.keyboard.press("j")
        expect(desktop.locator(f"#s{sequence} > [aria-current=step]")).to_be_in_viewport()
        expect(desktop.locator("#step")).to_have_attribute("data-sequence", str(sequence))


def test_the_compact_list_scrolls_through_the_session_and_stays_small(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?view=compact")
    box = desktop.locator(".list").bounding_box()
    assert box is not None
    desktop.mouse.move(box["x"] + 50, box["y"] + 50)

    def scrolled_to_the_end() -> bool:
        desktop.mouse.wheel(0, 2_400)
        desktop.wait_for_timeout(60)
        assert desktop.evaluate(NODES) <= MOST_NODES
        return int((desktop.locator(".row").last.get_attribute("id") or "")[1:]) >= STEPS - 2

    def scrolled_to_the_start() -> bool:
        desktop.mouse.wheel(0, -2_400)
        desktop.wait_for_timeout(60)
        return desktop.locator("#s1").count() == 1

    wait_until(scrolled_to_the_end)
    rows = desktop.evaluate("[...document.querySelectorAll('.row')].map(row => Number(row.id.slice(1)))")
    assert rows == sorted(set(rows))
    wait_until(scrolled_to_the_start)
    assert desktop.evaluate(NODES) <= MOST_NODES


def test_totals_open_above_the_list_and_link_to_their_steps(desktop: Page, session: str) -> None:
    desktop.goto(session)
    desktop.get_by_role("link", name="Totals").click()
    panel = desktop.get_by_label("Totals of these steps")
    expect(panel).to_contain_text("2,000 steps")
    panel.get_by_role("link", name="Tool", exact=True).click()
    expect(panel.get_by_role("rowheader")).to_have_count(2)
    panel.get_by_role("link", name="read").click()
    expect(desktop.locator(".totals")).to_contain_text("1,333 of 2,000 steps")
    expect(panel).to_contain_text("1,333 steps")
    desktop.get_by_role("link", name="Totals", exact=True).click()
    expect(panel).to_have_count(0)
    expect(desktop.locator(".totals")).to_contain_text("1,333 of 2,000 steps")
