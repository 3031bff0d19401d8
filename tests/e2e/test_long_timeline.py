"""Reaching any step of a long session with the scrollbar, the minimap, the scrubber and the keyboard."""

import re
import time
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
"""Scrolls by `window.meanwhile` pixels as soon as rows arrive, before the page receives the event."""

READING = 150
"""A step shown for this many milliseconds counts as read (js/ahead.js)."""

PRESS = """(key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})))"""

NORMAL = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

TAPS = f"""async taps => {{
    for (let tap = 0; tap < taps; tap++) {{
        {PRESS}("j");
        await new Promise(done => setTimeout(done, 60));
    }}
}}"""
"""Presses J that many times, every 60 ms."""

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
"""Presses J for every step as soon as it is shown; returns how long each took to appear, in milliseconds."""

NO_TIME = "performance.now = (now => () => now)(performance.now())"
"""Stops the clock: for js/ahead.js every press follows immediately, however busy this machine is."""


@pytest.fixture(scope="module")
def session(product: Product) -> Iterator[str]:
    """A session of `STEPS` steps, one of them failed, recorded over HTTP."""
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
def desktop(ada: Page) -> Page:
    """A page at desktop size."""
    return ada


def selected(page: Page) -> int:
    return int(page.locator("#step").get_attribute("data-sequence") or 0)


def expect_selected(page: Page, sequence: int) -> None:
    expect(page.locator(f'#step[data-sequence="{sequence}"]')).to_be_attached()
    expect(page.locator(f"#s{sequence} > [aria-current=step]")).to_be_in_viewport()


def settled_scroll(desktop: Page) -> float:
    """Return the scroll position of the list once it no longer changes."""
    positions: list[float] = []

    def still() -> bool:
        positions.append(float(desktop.evaluate("document.querySelector('.list').scrollTop")))
        desktop.wait_for_timeout(100)
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


def scroll_to(page: Page, pixels: int) -> None:
    page.evaluate("pixels => { document.querySelector('.list').scrollTop = pixels; }", pixels)


def test_the_scrollbar_spans_the_session_and_reaches_any_step(desktop: Page, session: str) -> None:
    desktop.goto(session)
    assert desktop.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW
    for share in (0.5, 0.9, 0.1):
        scroll_to(desktop, int(STEPS * share) * ROW)
        expect(desktop.locator(f"#s{int(STEPS * share) + 3}")).to_be_in_viewport()
        assert int(STEPS * share) + 1 in desktop.evaluate(IN_VIEW)
        assert desktop.evaluate("document.querySelector('.list').scrollHeight") == STEPS * ROW


def test_scrolling_never_jumps_and_the_page_stays_small(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=3000")
    began = settled_scroll(desktop)
    box = desktop.locator(".list").bounding_box()
    assert box is not None
    desktop.mouse.move(box["x"] + 50, box["y"] + 50)
    for turn in range(1, 16):
        wheel_to(desktop, began + turn * 10 * ROW)
    last = int((began + 150 * ROW) / ROW) + 3
    expect(desktop.locator(f"#s{last}")).to_be_in_viewport()
    assert desktop.evaluate(IN_VIEW)[0] in {last - 2, last - 1}
    assert desktop.evaluate("document.querySelectorAll('*').length") <= MOST_NODES


def test_rows_that_arrive_during_a_scroll_do_not_undo_it(desktop: Page, session: str) -> None:
    desktop.add_init_script(SCROLLED_MEANWHILE)
    desktop.goto(f"{session}?step=3000")
    began = settled_scroll(desktop)
    desktop.evaluate(
        "rows => { window.meanwhile = rows; document.querySelector('#later a').click(); }", 3 * ROW
    )
    wait_until(lambda: desktop.evaluate("window.meanwhile") == 0)
    assert settled_scroll(desktop) == began + 3 * ROW


def test_a_minimap_click_selects_a_step_and_a_drag_selects_a_range(desktop: Page, session: str) -> None:
    desktop.goto(session)
    box = desktop.locator("#minimap .picture").bounding_box()
    assert box is not None
    across, middle = box["x"], box["y"] + box["height"] / 2
    desktop.mouse.click(across + box["width"] / 3, middle)
    wait_until(lambda: selected(desktop) > 1)
    expect_selected(desktop, selected(desktop))
    assert f"step={selected(desktop)}" in desktop.url
    assert abs(selected(desktop) - STEPS / 3) < STEPS / box["width"] + 1

    desktop.mouse.move(across + box["width"] * 0.5, middle)
    desktop.mouse.down()
    desktop.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    desktop.mouse.up()
    chip = desktop.get_by_role("link", name=re.compile("^steps 3,1"))
    expect(chip).to_be_visible()
    assert 3_100 < selected(desktop) < 3_200
    rows = desktop.evaluate("document.querySelector('.list').scrollHeight") / ROW
    assert abs(rows - STEPS / 10) < 20
    chip.click()
    expect(chip).to_have_count(0)

    desktop.goto(session)  # from this address only the script navigates
    desktop.mouse.move(across + box["width"] * 0.5, middle)
    desktop.mouse.down()
    desktop.mouse.move(across + box["width"] * 0.6, middle, steps=4)
    desktop.mouse.up()
    expect(chip).to_be_visible()
    desktop.go_back()
    expect(chip).to_have_count(0)
    expect(desktop.locator(".totals")).not_to_contain_text("of 6,300")


def test_keys_move_the_scrubber_and_narrow_the_range(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=5000")
    scrubber = desktop.get_by_label("Step of the session")
    scrubber.focus()
    desktop.keyboard.press("ArrowRight")
    expect_selected(desktop, 5_001)
    assert scrubber.get_attribute("aria-valuetext") == "Step 5,001 of 6,300"
    desktop.keyboard.press("End")
    expect_selected(desktop, STEPS)
    desktop.keyboard.press("w")
    expect(desktop.get_by_role("link", name=re.compile("^steps 4,725–6,300"))).to_be_visible()
    desktop.go_back()
    expect(desktop.get_by_role("link", name=re.compile("^steps "))).to_have_count(0)


def test_a_key_jumps_to_the_failed_step_and_a_filter_finds_it(desktop: Page, session: str) -> None:
    desktop.goto(session)
    desktop.keyboard.press("e")
    expect_selected(desktop, FAILED)
    desktop.keyboard.press("f")
    desktop.keyboard.type('took:321ms status:error "gave up"')
    desktop.keyboard.press("Enter")
    expect(desktop.locator(".row")).to_have_count(1)
    expect(desktop.locator(f"#s{FAILED}")).to_be_visible()
    expect(desktop.locator(".totals")).to_contain_text("1 of 6,300 steps")


def test_play_advances_step_by_step_until_it_is_paused(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=10")
    desktop.get_by_label("Steps per second").select_option("4")
    desktop.get_by_role("button", name="Play").click()
    expect(desktop.get_by_role("button", name="Pause")).to_be_visible()
    wait_until(lambda: selected(desktop) >= 13)
    desktop.get_by_role("button", name="Pause").click()
    at = int(desktop.locator("#goto").input_value())  # the steps up to here may still be loading
    expect_selected(desktop, at)
    desktop.wait_for_timeout(700)
    expect(desktop.locator("#goto")).to_have_value(str(at))
    expect_selected(desktop, at)


def wait_for(page: Page, condition: Callable[[], bool]) -> None:
    """Let the page run until the condition is true."""
    for _ in range(1_200):
        if condition():
            return
        page.wait_for_timeout(25)
    pytest.fail("It was not seen within thirty seconds.")


@pytest.fixture
def requested(desktop: Page) -> list[str]:
    """The steps that the page requests, in order."""
    found: list[str] = []
    desktop.on(
        "request",
        lambda request: found.append(request.url.rpartition("=")[2]) if "?step=" in request.url else None,
    )
    return found


def test_the_next_step_is_prefetched_only_once_while_a_step_is_read(
    desktop: Page, session: str, requested: list[str]
) -> None:
    desktop.goto(f"{session}?step=2000")
    for step in (2001, 2002):
        wait_for(desktop, partial(requested.__contains__, str(step)))
        desktop.wait_for_timeout(200)
        desktop.keyboard.press("j")
        expect_selected(desktop, step)
        expect(desktop.locator("#step")).to_contain_text(f"what step {step} said")
    wait_for(desktop, partial(requested.__contains__, "2003"))
    desktop.wait_for_timeout(200)
    assert requested == ["2000", "2001", "2002", "2003"]
    desktop.keyboard.press("k")
    expect_selected(desktop, 2001)
    wait_for(desktop, lambda: requested.count("2000") == 2)


def test_fast_stepping_prefetches_the_step_after_the_next_too(
    desktop: Page, session: str, requested: list[str]
) -> None:
    desktop.goto(f"{session}?step=2000")
    desktop.evaluate(NO_TIME)
    desktop.evaluate(HURRY, 2010)
    wait_for(desktop, partial(requested.__contains__, "2011"))
    assert len(requested) == len(set(requested))


def test_a_pending_prefetch_is_not_repeated_when_rows_arrive_first(desktop: Page, session: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    desktop.route("**/*step=2001*", hold)
    desktop.goto(f"{session}?step=2000")
    wait_for(desktop, lambda: bool(held))
    desktop.keyboard.press("j")
    scroll_to(desktop, 5_000 * ROW)
    expect(desktop.locator("#s5003")).to_be_in_viewport()
    desktop.wait_for_timeout(2 * READING)
    assert len(held) == 1
    held[0].continue_()
    expect_selected(desktop, 2001)


def test_a_key_selects_its_step_while_rows_elsewhere_are_loading(desktop: Page, session: str) -> None:
    held: list[Route] = []
    desktop.route("**/*row=*", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks the function
    desktop.goto(f"{session}?step=2000")
    scroll_to(desktop, 5_000 * ROW)
    wait_for(desktop, lambda: bool(held))
    desktop.keyboard.press("j")
    expect(desktop.locator("#step")).to_have_attribute("data-sequence", "2001")
    held[0].continue_()
    expect_selected(desktop, 2001)
    expect(desktop.locator("#s2001")).to_be_in_viewport()


def test_twenty_taps_on_a_slow_connection_move_twenty_steps(
    desktop: Page, session: str, requested: list[str]
) -> None:
    slow = desktop.context.new_cdp_session(desktop)
    slow.send("Network.enable")
    for address, last in ((f"{session}?step=3000", 3020), (f"{session}?filter=kind:message&step=3002", 3062)):
        slow.send("Network.emulateNetworkConditions", NORMAL)
        desktop.goto(address)
        desktop.wait_for_timeout(2 * READING)
        requested.clear()
        slow.send("Network.emulateNetworkConditions", NORMAL | {"latency": 350})
        desktop.evaluate(TAPS, 20)
        expect(desktop.locator("#goto")).to_have_value(str(last))
        expect(desktop.locator(f"#s{last} > [aria-current=step]")).to_be_in_viewport()
        expect_selected(desktop, last)
        expect(desktop).to_have_url(re.compile(f"step={last}"))
        assert len(requested) < 10


def test_keys_whose_steps_only_the_server_knows_are_kept_too(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=3000")
    desktop.evaluate("for (const key of 'JJkjJ') press(key)".replace("press", PRESS))
    expect_selected(desktop, 3009)
    expect(desktop.locator("#goto")).to_have_value("3009")


def test_fast_stepping_adds_one_history_entry_for_the_last_step(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=2000")
    desktop.wait_for_timeout(200)
    desktop.evaluate(NO_TIME)
    desktop.keyboard.press("j")
    expect_selected(desktop, 2001)
    expect(desktop).to_have_url(re.compile(r"step=2001"))
    before = desktop.evaluate("history.length")
    gaps = desktop.evaluate(HURRY, 2006)
    expect_selected(desktop, 2006)
    expect(desktop).to_have_url(re.compile(r"step=2006"))
    slow = sum(gap > READING / 2 for gap in gaps)  # when the machine is busy
    assert desktop.evaluate("history.length") <= before + slow + 1
    desktop.go_back()
    expect(desktop.locator("#step")).not_to_have_attribute("data-sequence", "2006")
    desktop.go_forward()
    expect_selected(desktop, 2006)


def test_a_step_is_fetched_normally_after_a_failed_prefetch(desktop: Page, session: str) -> None:
    refused: list[str] = []

    def once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    desktop.goto(f"{session}?step=2100")
    desktop.route("**/*step=2101*", once)
    desktop.reload()
    wait_for(desktop, lambda: bool(refused))
    desktop.keyboard.press("j")
    expect_selected(desktop, 2101)


def test_a_prefetch_that_returned_another_step_is_repeated(desktop: Page, session: str) -> None:
    urls: list[str] = []

    def answer(route: Route) -> None:
        urls.append(route.request.url)
        if len(urls) == 1:
            route.abort()
        elif len(urls) == 2:
            route.continue_(url=route.request.url.replace("step=2101", "step=2100"))
        else:
            route.continue_()

    desktop.goto(f"{session}?step=2100")
    desktop.route("**/*step=2101*", answer)
    desktop.reload()
    wait_for(desktop, lambda: bool(urls))
    desktop.keyboard.press("j")
    wait_for(desktop, lambda: len(urls) >= 3)


def test_a_held_key_advances_step_by_step(desktop: Page, session: str) -> None:
    desktop.goto(f"{session}?step=2200")

    def walked() -> bool:
        desktop.keyboard.down("j")  # a second press of a key without its release is a repeated one
        desktop.wait_for_timeout(25)
        return selected(desktop) > 2203

    wait_until(walked)
    desktop.keyboard.up("j")
