"""Reaching any step of a long session with the scrollbar, the minimap, the scrubber and the keyboard."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.long_session import FAILED, ROW, STEPS, expect_selected, scroll_to, selected
from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

MOST_NODES = 2_500
IN_VIEW = """() => {
    const box = document.querySelector(".list").getBoundingClientRect();
    const rows = [...document.querySelectorAll(".row")].filter(row => {
        const own = row.getBoundingClientRect();
        return own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
    });
    return rows.map(row => Number(row.id.slice(1)));
}"""

SCROLLED_MEANWHILE = """new MutationObserver(changes => {
    const added = changes.flatMap(change => [...change.addedNodes]);
    if (!window.meanwhile || !added.some(node => node.matches?.(".row"))) return;
    document.querySelector(".list").scrollTop += window.meanwhile;
    window.meanwhile = 0;
}).observe(document, {childList: true, subtree: true})"""
"""Scrolls by `window.meanwhile` pixels as soon as rows arrive, before the page receives the event."""


@pytest.fixture(scope="module")
def product(long_session: Product) -> Product:
    return long_session


@pytest.fixture(scope="module")
def session(product: Product) -> str:
    return f"{product.url}/sessions/long/"


def settled_scroll(ada: Page) -> float:
    """Return the scroll position of the list once it no longer changes."""
    positions: list[float] = []

    def still() -> bool:
        positions.append(float(ada.evaluate("document.querySelector('.list').scrollTop")))
        ada.wait_for_timeout(100)
        return len(positions) > 2 and len(set(positions[-3:])) == 1

    wait_until(still)
    return positions[-1]


def is_at(page: Page, pixels: float) -> bool:
    return bool(page.evaluate("document.querySelector('.list').scrollTop") == pixels)


def wheel_to(page: Page, pixels: float) -> None:
    """Turn the wheel until the list is there, again only if nothing has moved: a busy browser can lose a turn."""

    def is_there() -> bool:
        missing = pixels - page.evaluate("document.querySelector('.list').scrollTop")
        page.mouse.wheel(0, missing)
        until = time.monotonic() + 10
        while not is_at(page, pixels) and time.monotonic() < until:
            page.wait_for_timeout(25)
        return is_at(page, pixels)

    wait_until(is_there)


def test_the_scrollbar_spans_the_session_and_reaches_any_step(ada: Page, session: str) -> None:
    ada.goto(session)
    assert ada.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW
    for share in (0.5, 0.9, 0.1):
        scroll_to(ada, int(STEPS * share) * ROW)
        expect(ada.locator(f"#s{int(STEPS * share) + 3}")).to_be_in_viewport()
        assert int(STEPS * share) + 1 in ada.evaluate(IN_VIEW)
        assert ada.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW


def test_scrolling_never_jumps_and_the_page_stays_small(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=3000")
    began = settled_scroll(ada)
    box = ada.locator(".list").bounding_box()
    assert box is not None
    ada.mouse.move(box["x"] + 50, box["y"] + 50)
    for turn in range(1, 16):
        wheel_to(ada, began + turn * 10 * ROW)
    last = int((began + 150 * ROW) / ROW) + 3
    expect(ada.locator(f"#s{last}")).to_be_in_viewport()
    assert ada.evaluate(IN_VIEW)[0] in {last - 2, last - 1}
    assert ada.evaluate("document.querySelectorAll('*').length") <= MOST_NODES


def test_rows_that_arrive_during_a_scroll_do_not_undo_it(ada: Page, session: str) -> None:
    ada.add_init_script(SCROLLED_MEANWHILE)
    ada.goto(f"{session}?step=3000")
    began = settled_scroll(ada)
    ada.evaluate("rows => { window.meanwhile = rows; document.querySelector('#later a').click(); }", 3 * ROW)
    wait_until(lambda: ada.evaluate("window.meanwhile") == 0)
    assert settled_scroll(ada) == began + 3 * ROW


def test_a_minimap_click_selects_a_step_and_a_drag_selects_a_range(ada: Page, session: str) -> None:
    ada.goto(session)
    box = ada.locator("#minimap .picture").bounding_box()
    assert box is not None
    across, middle = box["x"], box["y"] + box["height"] / 2
    ada.mouse.click(across + box["width"] / 3, middle)
    wait_until(lambda: selected(ada) > 1)
    expect_selected(ada, selected(ada))
    assert f"step={selected(ada)}" in ada.url
    assert abs(selected(ada) - STEPS / 3) < STEPS / box["width"] + 1

    ada.mouse.move(across + box["width"] * 0.5, middle)
    ada.mouse.down()
    ada.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    ada.mouse.up()
    chip = ada.get_by_role("link", name=re.compile("^steps 3,1"))
    expect(chip).to_be_visible()
    assert 3_100 < selected(ada) < 3_200
    rows = ada.evaluate("document.querySelector('.list').scrollHeight") / ROW
    assert abs(rows - STEPS / 10) < 20
    chip.click()
    expect(chip).to_have_count(0)

    ada.goto(session)  # from this address only the script navigates
    ada.mouse.move(across + box["width"] * 0.5, middle)
    ada.mouse.down()
    ada.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    ada.mouse.up()
    expect(chip).to_be_visible()
    ada.go_back()
    expect(chip).to_have_count(0)
    expect(ada.locator(".totals")).not_to_contain_text("of 6,300")


KNOB_AND_MARK = """() => {
    const [slider, mark] = ["#scrubber", ".at"].map(each => document.querySelector(each).getBoundingClientRect());
    const part = document.querySelector("#scrubber").value / 6300;
    return [slider.x + 8 + part * (slider.width - 16), mark.x + mark.width / 2];
}"""
"""Where the middle of the slider's knob, 16 px wide, and of the picture's mark are."""


def test_keys_move_the_scrubber_and_narrow_the_range(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=5000")
    scrubber = ada.get_by_label("Step of the session")
    scrubber.focus()
    ada.keyboard.press("ArrowRight")
    expect_selected(ada, 5_001)
    assert scrubber.get_attribute("aria-valuetext") == "Step 5,001 of 6,300"
    knob, mark = ada.evaluate(KNOB_AND_MARK)
    assert abs(knob - mark) < 2
    ada.keyboard.press("End")
    expect_selected(ada, STEPS)
    ada.keyboard.press("w")
    expect(ada.get_by_role("link", name=re.compile("^steps 4,725–6,300"))).to_be_visible()
    ada.go_back()
    expect(ada.get_by_role("link", name=re.compile("^steps "))).to_have_count(0)


def test_a_key_jumps_to_the_failed_step_and_a_filter_finds_it(ada: Page, session: str) -> None:
    ada.goto(session)
    ada.keyboard.press("e")
    expect_selected(ada, FAILED)
    ada.keyboard.press("f")
    ada.keyboard.type('took:321ms status:error "gave up"')
    ada.keyboard.press("Enter")
    expect(ada.locator(".row")).to_have_count(1)
    expect(ada.locator(f"#s{FAILED}")).to_be_visible()
    expect(ada.locator(".totals")).to_contain_text("1 of 6,300 steps")


def test_play_advances_step_by_step_until_it_is_paused(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=10")
    ada.get_by_label("Steps per second").select_option("4")
    ada.get_by_role("button", name="Play").click()
    expect(ada.get_by_role("button", name="Pause")).to_be_visible()
    wait_until(lambda: selected(ada) >= 13)
    ada.get_by_role("button", name="Pause").click()
    at = int(ada.locator("#goto").input_value())  # the steps up to here may still be loading
    expect_selected(ada, at)
    ada.wait_for_timeout(700)
    expect(ada.locator("#goto")).to_have_value(str(at))
    expect_selected(ada, at)
