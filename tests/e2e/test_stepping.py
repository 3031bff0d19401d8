"""Stepping through a long session with keys: no press is dropped, and the next step is there before it is asked for."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.long_session import FAILED, ROW, expect_selected, scroll_to, selected
from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

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
def product(long_session: Product) -> Product:
    return long_session


@pytest.fixture(scope="module")
def session(product: Product) -> str:
    return f"{product.url}/sessions/long/"


def wait_for(page: Page, condition: Callable[[], bool]) -> None:
    """Let the page run until the condition is true."""
    for _ in range(1_200):
        if condition():
            return
        page.wait_for_timeout(25)
    pytest.fail("It was not seen within thirty seconds.")


@pytest.fixture
def requested(ada: Page) -> list[str]:
    """The steps that the page requests, in order."""
    found: list[str] = []
    ada.on(
        "request",
        lambda request: found.append(request.url.rpartition("=")[2]) if "?step=" in request.url else None,
    )
    return found


def test_the_next_step_is_prefetched_only_once_while_a_step_is_read(
    ada: Page, session: str, requested: list[str]
) -> None:
    ada.goto(f"{session}?step=2000")
    for step in (2001, 2002):
        wait_for(ada, partial(requested.__contains__, str(step)))
        ada.wait_for_timeout(200)
        ada.keyboard.press("j")
        expect_selected(ada, step)
        expect(ada.locator("#step")).to_contain_text(f"what step {step} said")
    wait_for(ada, partial(requested.__contains__, "2003"))
    ada.wait_for_timeout(200)
    assert requested == ["2000", "2001", "2002", "2003"]
    ada.keyboard.press("k")
    expect_selected(ada, 2001)
    wait_for(ada, lambda: requested.count("2000") == 2)


def test_fast_stepping_prefetches_the_step_after_the_next_too(
    ada: Page, session: str, requested: list[str]
) -> None:
    ada.goto(f"{session}?step=2000")
    ada.evaluate(NO_TIME)
    ada.evaluate(HURRY, 2010)
    wait_for(ada, partial(requested.__contains__, "2011"))
    assert len(requested) == len(set(requested))


def test_a_pending_prefetch_is_not_repeated_when_rows_arrive_first(ada: Page, session: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    ada.route("**/*step=2001*", hold)
    ada.goto(f"{session}?step=2000")
    wait_for(ada, lambda: bool(held))
    ada.keyboard.press("j")
    scroll_to(ada, 5_000 * ROW)
    expect(ada.locator("#s5003")).to_be_in_viewport()
    ada.wait_for_timeout(2 * READING)
    assert len(held) == 1
    held[0].continue_()
    expect_selected(ada, 2001)


def test_a_key_selects_its_step_while_rows_elsewhere_are_loading(ada: Page, session: str) -> None:
    held: list[Route] = []
    ada.route("**/*row=*", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks the function
    ada.goto(f"{session}?step=2000")
    scroll_to(ada, 5_000 * ROW)
    wait_for(ada, lambda: bool(held))
    ada.keyboard.press("j")
    expect(ada.locator("#step")).to_have_attribute("data-sequence", "2001")
    held[0].continue_()
    expect_selected(ada, 2001)
    expect(ada.locator("#s2001")).to_be_in_viewport()


def test_twenty_taps_on_a_slow_connection_move_twenty_steps(
    ada: Page, session: str, requested: list[str]
) -> None:
    slow = ada.context.new_cdp_session(ada)
    slow.send("Network.enable")
    for address, last in ((f"{session}?step=3000", 3020), (f"{session}?filter=kind:message&step=3002", 3062)):
        slow.send("Network.emulateNetworkConditions", NORMAL)
        ada.goto(address)
        ada.wait_for_timeout(2 * READING)
        requested.clear()
        slow.send("Network.emulateNetworkConditions", NORMAL | {"latency": 350})
        ada.evaluate(TAPS, 20)
        expect(ada.locator("#goto")).to_have_value(str(last))
        expect(ada.locator(f"#s{last} > [aria-current=step]")).to_be_in_viewport()
        expect_selected(ada, last)
        expect(ada).to_have_url(re.compile(f"step={last}"))
        assert len(requested) < 10


def test_keys_whose_steps_only_the_server_knows_are_kept_too(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=3000")
    ada.evaluate("for (const key of 'JJkjJ') press(key)".replace("press", PRESS))
    expect_selected(ada, 3009)
    expect(ada.locator("#goto")).to_have_value("3009")


def test_a_key_pressed_while_a_jump_is_loading_goes_on_from_there(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=3000")
    ada.evaluate("for (const key of 'ej') press(key)".replace("press", PRESS))
    expect_selected(ada, FAILED + 1)


def test_fast_stepping_adds_one_history_entry_for_the_last_step(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=2000")
    ada.wait_for_timeout(200)
    ada.evaluate(NO_TIME)
    ada.keyboard.press("j")
    expect_selected(ada, 2001)
    expect(ada).to_have_url(re.compile(r"step=2001"))
    before = ada.evaluate("history.length")
    gaps = ada.evaluate(HURRY, 2006)
    expect_selected(ada, 2006)
    expect(ada).to_have_url(re.compile(r"step=2006"))
    slow = sum(gap > READING / 2 for gap in gaps)  # when the machine is busy
    assert ada.evaluate("history.length") <= before + slow + 1
    ada.go_back()
    expect(ada.locator("#step")).not_to_have_attribute("data-sequence", "2006")
    ada.go_forward()
    expect_selected(ada, 2006)


def test_a_step_is_fetched_normally_after_a_failed_prefetch(ada: Page, session: str) -> None:
    refused: list[str] = []

    def once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    ada.goto(f"{session}?step=2100")
    ada.route("**/*step=2101*", once)
    ada.reload()
    wait_for(ada, lambda: bool(refused))
    ada.keyboard.press("j")
    expect_selected(ada, 2101)


def test_a_prefetch_that_returned_another_step_is_repeated(ada: Page, session: str) -> None:
    urls: list[str] = []

    def answer(route: Route) -> None:
        urls.append(route.request.url)
        if len(urls) == 1:
            route.abort()
        elif len(urls) == 2:
            route.continue_(url=route.request.url.replace("step=2101", "step=2100"))
        else:
            route.continue_()

    ada.goto(f"{session}?step=2100")
    ada.route("**/*step=2101*", answer)
    ada.reload()
    wait_for(ada, lambda: bool(urls))
    ada.keyboard.press("j")
    wait_for(ada, lambda: len(urls) >= 3)


def test_a_held_key_advances_step_by_step(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=2200")

    def walked() -> bool:
        ada.keyboard.down("j")  # a second press of a key without its release is a repeated one
        ada.wait_for_timeout(25)
        return selected(ada) > 2203

    wait_until(walked)
    ada.keyboard.up("j")
