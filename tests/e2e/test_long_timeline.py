"""A person puts a finger on any moment of a long session: by its scrollbar, its minimap, its scrubber and its keys."""

import re
from collections.abc import Callable, Iterator
from functools import partial

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

STEPS = 6_300
FAILED = 4_321
ROW = 32
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
"""Scrolls by `window.meanwhile` pixels as soon as rows arrive, before the page has had an event of that."""

READING = 150
"""From so many milliseconds on a step is one that somebody stayed at (js/ahead.js)."""

HURRY = """until => new Promise(done => {
    const shown = () => Number(document.getElementById("step")?.dataset.sequence);
    const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true, cancelable: true}));
    let last = shown(), came = Date.now();
    const gaps = [];
    const watch = new MutationObserver(() => {
        if (!(shown() > last)) return;
        last = shown();
        gaps.push(Date.now() - came);
        came = Date.now();
        if (last < until) return setTimeout(press);
        watch.disconnect();
        done(gaps);
    });
    watch.observe(document.documentElement, {childList: true, subtree: true});
    press();
})"""
"""Presses J for every step as soon as it is there; how long each took to come, in milliseconds."""

NO_TIME = "performance.now = (now => () => now)(performance.now())"
"""To js/ahead.js every press comes at once after the one before, however busy this machine is."""


@pytest.fixture(scope="module")
def session(product: Product) -> Iterator[str]:
    """A session of so many steps, one of them failed, recorded over HTTP."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as client:
        assert client.post("/sessions", json={"name": "Long run", "key": "long"}).status_code == 201
        for first in range(1, STEPS + 1, 900):
            actions = [action(number) for number in range(first, min(first + 900, STEPS + 1))]
            assert client.post("/sessions/long/actions", json={"actions": actions}).status_code == 201
        yield f"{product.url}/sessions/long/"


def action(number: int) -> dict[str, object]:
    kinds = ("llm_call", "tool_call", "message")
    failed = {"error": {"type": "Timeout", "message": "Gave up"}} if number == FAILED else {}
    return {
        "kind": kinds[number % 3],
        "output": f"what step {number} said",
        "duration_ms": number % 1_000,
    } | failed


@pytest.fixture
def desk(ada: Page) -> Page:
    """A page on a desk's screen."""
    return ada


def selected(page: Page) -> int:
    return int(page.locator("#step").get_attribute("data-sequence") or 0)


def expect_selected(page: Page, sequence: int) -> None:
    expect(page.locator(f'#step[data-sequence="{sequence}"]')).to_be_attached()
    expect(page.locator(f"#s{sequence} > [aria-current=step]")).to_be_in_viewport()


def at_rest(desk: Page) -> float:
    """How far the list is scrolled once the page has found its place."""
    seen: list[float] = []

    def still() -> bool:
        seen.append(float(desk.evaluate("document.querySelector('.list').scrollTop")))
        desk.wait_for_timeout(100)
        return len(seen) > 2 and len(set(seen[-3:])) == 1

    wait_until(still)
    return seen[-1]


def is_at(page: Page, pixels: float) -> bool:
    return bool(page.evaluate("document.querySelector('.list').scrollTop") == pixels)


def scroll_to(page: Page, pixels: int) -> None:
    page.evaluate("pixels => { document.querySelector('.list').scrollTop = pixels; }", pixels)


def test_the_scrollbar_is_as_long_as_the_session_and_leads_to_any_place_of_it(
    desk: Page, session: str
) -> None:
    desk.goto(session)
    assert desk.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW
    for share in (0.5, 0.9, 0.1):
        scroll_to(desk, int(STEPS * share) * ROW)
        expect(desk.locator(f"#s{int(STEPS * share) + 3}")).to_be_in_viewport()
        assert int(STEPS * share) + 1 in desk.evaluate(IN_VIEW)
        assert desk.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW


def test_scrolling_on_never_jumps_and_the_page_never_grows(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=3000")
    began = at_rest(desk)
    box = desk.locator(".list").bounding_box()
    assert box is not None
    desk.mouse.move(box["x"] + 50, box["y"] + 50)
    for turn in range(1, 16):
        desk.mouse.wheel(0, 10 * ROW)
        wait_until(partial(is_at, desk, began + turn * 10 * ROW))
    last = int((began + 150 * ROW) / ROW) + 3
    expect(desk.locator(f"#s{last}")).to_be_in_viewport()
    assert desk.evaluate(IN_VIEW)[0] in {last - 2, last - 1}
    assert desk.evaluate("document.querySelectorAll('*').length") <= MOST_NODES


def test_rows_that_arrive_in_the_middle_of_a_scroll_do_not_undo_it(desk: Page, session: str) -> None:
    desk.add_init_script(SCROLLED_MEANWHILE)
    desk.goto(f"{session}?step=3000")
    began = at_rest(desk)
    desk.evaluate("rows => { window.meanwhile = rows; document.querySelector('#later a').click(); }", 3 * ROW)
    wait_until(lambda: desk.evaluate("window.meanwhile") == 0)
    assert at_rest(desk) == began + 3 * ROW


def test_a_click_on_the_minimap_selects_that_step_and_a_drag_looks_at_a_stretch(
    desk: Page, session: str
) -> None:
    desk.goto(session)
    box = desk.locator("#minimap svg").bounding_box()
    assert box is not None
    across, middle = box["x"], box["y"] + box["height"] / 2
    desk.mouse.click(across + box["width"] / 3, middle)
    wait_until(lambda: selected(desk) > 1)
    expect_selected(desk, selected(desk))
    assert f"step={selected(desk)}" in desk.url
    assert abs(selected(desk) - STEPS / 3) < STEPS / box["width"] + 1

    desk.mouse.move(across + box["width"] * 0.5, middle)
    desk.mouse.down()
    desk.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    desk.mouse.up()
    chip = desk.get_by_role("link", name=re.compile("^steps 3,1"))
    expect(chip).to_be_visible()
    assert 3_100 < selected(desk) < 3_200
    rows = desk.evaluate("document.querySelector('.list').scrollHeight") / ROW
    assert abs(rows - STEPS / 10) < 20
    chip.click()
    expect(chip).to_have_count(0)

    desk.goto(session)  # an address that the script alone leads on from
    desk.mouse.move(across + box["width"] * 0.5, middle)
    desk.mouse.down()
    desk.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    desk.mouse.up()
    expect(chip).to_be_visible()
    desk.go_back()
    expect(chip).to_have_count(0)
    expect(desk.locator(".totals")).not_to_contain_text("of 6,300")


def test_the_scrubber_goes_through_the_session_by_keys_and_looks_closer(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=5000")
    scrubber = desk.get_by_label("Step of the session")
    scrubber.focus()
    desk.keyboard.press("ArrowRight")
    expect_selected(desk, 5_001)
    assert scrubber.get_attribute("aria-valuetext") == "Step 5,001 of 6,300"
    desk.keyboard.press("End")
    expect_selected(desk, STEPS)
    desk.keyboard.press("w")
    expect(desk.get_by_role("link", name=re.compile("^steps 4,725–6,300"))).to_be_visible()
    desk.go_back()
    expect(desk.get_by_role("link", name=re.compile("^steps "))).to_have_count(0)


def test_keys_lead_to_the_failed_step_and_the_filter_finds_it(desk: Page, session: str) -> None:
    desk.goto(session)
    desk.keyboard.press("e")
    expect_selected(desk, FAILED)
    desk.keyboard.press("f")
    desk.keyboard.type('took:321ms status:error "gave up"')
    desk.keyboard.press("Enter")
    expect(desk.locator(".row")).to_have_count(1)
    expect(desk.locator(f"#s{FAILED}")).to_be_visible()
    expect(desk.locator(".totals")).to_contain_text("1 of 6,300 steps")


def test_play_goes_on_step_by_step_until_it_is_paused(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=10")
    desk.get_by_label("Steps per second").select_option("4")
    desk.get_by_role("button", name="Play").click()
    expect(desk.get_by_role("button", name="Pause")).to_be_visible()
    wait_until(lambda: selected(desk) >= 13)
    desk.get_by_role("button", name="Pause").click()
    at = selected(desk)
    desk.wait_for_timeout(700)
    assert selected(desk) in {at, at + 1}  # one may have been on its way


def seen(page: Page, true: Callable[[], bool]) -> None:
    """Let the page go on until something has been seen of it."""
    for _ in range(1_200):
        if true():
            return
        page.wait_for_timeout(25)
    pytest.fail("It was not seen within thirty seconds.")


@pytest.fixture
def asked(desk: Page) -> list[str]:
    """The steps that the page asks for, one after the other."""
    found: list[str] = []
    desk.on(
        "request",
        lambda request: found.append(request.url.rpartition("=")[2]) if "?step=" in request.url else None,
    )
    return found


def test_the_next_step_is_fetched_while_one_is_read_and_no_second_time(
    desk: Page, session: str, asked: list[str]
) -> None:
    desk.goto(f"{session}?step=2000")
    for step in (2001, 2002):
        seen(desk, partial(asked.__contains__, str(step)))
        desk.wait_for_timeout(200)
        desk.keyboard.press("j")
        expect_selected(desk, step)
        expect(desk.locator("#step")).to_contain_text(f"what step {step} said")
    seen(desk, partial(asked.__contains__, "2003"))
    desk.wait_for_timeout(200)
    assert asked == ["2000", "2001", "2002", "2003"]
    desk.keyboard.press("k")
    expect_selected(desk, 2001)
    seen(desk, lambda: asked.count("2000") == 2)


def test_for_who_hurries_the_step_after_the_next_one_is_fetched_too(
    desk: Page, session: str, asked: list[str]
) -> None:
    desk.goto(f"{session}?step=2000")
    desk.evaluate(NO_TIME)
    desk.evaluate(HURRY, 2010)
    seen(desk, partial(asked.__contains__, "2011"))
    assert len(asked) == len(set(asked))


def test_what_is_on_its_way_is_not_fetched_again_where_rows_come_first(desk: Page, session: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    desk.route("**/*step=2001*", hold)
    desk.goto(f"{session}?step=2000")
    seen(desk, lambda: bool(held))
    desk.keyboard.press("j")
    scroll_to(desk, 5_000 * ROW)
    expect(desk.locator("#s5003")).to_be_in_viewport()
    desk.wait_for_timeout(2 * READING)
    assert len(held) == 1
    held[0].continue_()
    expect_selected(desk, 2001)


def test_a_key_leads_to_its_step_while_the_rows_of_another_place_are_on_their_way(
    desk: Page, session: str
) -> None:
    held: list[Route] = []
    desk.route("**/*row=*", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks the function
    desk.goto(f"{session}?step=2000")
    scroll_to(desk, 5_000 * ROW)
    seen(desk, lambda: bool(held))
    desk.keyboard.press("j")
    expect(desk.locator("#step")).to_have_attribute("data-sequence", "2001")
    held[0].continue_()
    expect_selected(desk, 2001)
    expect(desk.locator("#s2001")).to_be_in_viewport()


def test_who_hurries_leaves_one_entry_in_the_history_where_they_stop(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=2000")
    desk.wait_for_timeout(200)
    desk.evaluate(NO_TIME)
    desk.keyboard.press("j")
    expect_selected(desk, 2001)
    expect(desk).to_have_url(re.compile(r"step=2001"))
    before = desk.evaluate("history.length")
    gaps = desk.evaluate(HURRY, 2006)
    expect_selected(desk, 2006)
    expect(desk).to_have_url(re.compile(r"step=2006"))
    slow = sum(gap > READING / 2 for gap in gaps)  # of a machine that is busy
    assert desk.evaluate("history.length") <= before + slow + 1
    desk.go_back()
    expect(desk.locator("#step")).not_to_have_attribute("data-sequence", "2006")
    desk.go_forward()
    expect_selected(desk, 2006)


def test_a_step_that_could_not_be_fetched_ahead_is_asked_for_in_the_usual_way(
    desk: Page, session: str
) -> None:
    refused: list[str] = []

    def once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    desk.goto(f"{session}?step=2100")
    desk.route("**/*step=2101*", once)
    desk.reload()
    seen(desk, lambda: bool(refused))
    desk.keyboard.press("j")
    expect_selected(desk, 2101)


def test_a_step_in_whose_place_another_came_is_fetched_ahead_again(desk: Page, session: str) -> None:
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        elif len(asked) == 2:
            route.continue_(url=route.request.url.replace("step=2101", "step=2100"))
        else:
            route.continue_()

    desk.goto(f"{session}?step=2100")
    desk.route("**/*step=2101*", answer)
    desk.reload()
    seen(desk, lambda: len(asked) == 1)
    desk.keyboard.press("j")
    seen(desk, lambda: len(asked) == 3)


def test_a_key_that_is_held_down_walks_on_step_by_step(desk: Page, session: str) -> None:
    desk.goto(f"{session}?step=2200")

    def walked() -> bool:
        desk.keyboard.down("j")  # a second press of a key without its release is a repeated one
        desk.wait_for_timeout(25)
        return selected(desk) > 2203

    wait_until(walked)
    desk.keyboard.up("j")
