"""The picture of a session on its Time axis: what the pointer, the keys and Play do there."""

import re
import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.long_session import expect_selected
from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

BEGAN = datetime(2026, 11, 20, 9, tzinfo=UTC)
IDLE = timedelta(hours=10)
"""At ×64 these take nine minutes, unless they are folded."""


@pytest.fixture(scope="module")
def session(product: Product) -> str:
    """Return the URL of a session of twelve steps, one each second; after the sixth nothing happens for `IDLE`."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as client:
        assert client.post("/sessions", json={"name": "Two bursts", "key": "bursts"}).status_code == 201
        actions = [action(number) for number in range(1, 13)]
        assert client.post("/sessions/bursts/actions", json={"actions": actions}).status_code == 201
    return f"{product.url}/sessions/bursts/"


def action(number: int) -> dict[str, object]:
    start = BEGAN + timedelta(seconds=number) + (IDLE if number > 6 else timedelta())
    return {
        "kind": "tool_call",
        "tool": "shell",
        "started_at": start.isoformat(),
        "duration_ms": 500,
        "output": f"what step {number} said",
        "cost_usd": 123.45 if number == 1 else 0.0042,
    } | ({"error": {"type": "Timeout", "message": "Gave up"}} if number == 5 else {})


def test_the_pointer_reads_the_time_axis_and_a_drag_shows_a_range_of_it(ada: Page, session: str) -> None:
    ada.goto(session)
    ada.get_by_role("link", name="Time", exact=True).click()
    picture = ada.locator("#minimap .picture[data-axis=time]")
    box = picture.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2

    ada.mouse.move(box["x"] + 2, middle)
    card = ada.locator("#minimap .hover")
    expect(card).to_contain_text(re.compile(r"09:00:0\d UTC · step 1 · \$123\.45$"))
    fold = ada.locator("#minimap rect.fold").bounding_box()
    assert fold is not None
    ada.mouse.move(fold["x"] + fold["width"] / 2, middle)
    expect(card).to_contain_text("10 h 00 min without steps")

    failed = picture.locator("[data-lane=errors]").bounding_box()
    assert failed is not None
    groups = (picture.get_attribute("data-groups") or "").split(";")
    left = next(float(each.split(",")[0]) for each in groups if each.split(",")[3] == "5")
    ada.mouse.click(box["x"] + box["width"] * left / 600 + 7, failed["y"] + failed["height"] / 2)
    expect(card).to_have_text(re.compile(r"UTC · step 5 · 1 error"))
    expect_selected(ada, 5)

    after = fold["x"] + fold["width"] + 2
    ada.mouse.move(after, middle)
    ada.mouse.down()
    ada.mouse.move(box["x"] + box["width"] - 2, middle, steps=4)
    ada.mouse.up()
    chip = ada.get_by_role("link", name=re.compile("^steps 7–12"))
    expect(chip).to_be_visible()
    expect(ada.locator(".row")).to_have_count(6)
    expect(picture).to_be_visible()
    chip.click()
    expect(chip).to_have_count(0)
    expect(ada.locator(".row")).to_have_count(12)
    expect(picture).to_be_visible()


def test_another_axis_or_view_keeps_the_step_that_was_reached_since(ada: Page, session: str) -> None:
    ada.goto(f"{session}?step=2")
    ada.locator(".about > summary").click()
    expect(ada.locator(".about > .facts")).to_be_visible()
    ada.keyboard.press("j")
    expect_selected(ada, 3)
    expect(ada.locator(".about > .facts")).to_be_hidden()
    ada.get_by_role("link", name="Time", exact=True).click()
    expect(ada.locator("#minimap .picture[data-axis=time]")).to_be_visible()
    expect_selected(ada, 3)
    ada.keyboard.press("j")
    expect_selected(ada, 4)
    ada.get_by_role("link", name="Compact", exact=True).click()
    expect(ada.get_by_role("link", name="Compact", exact=True)).to_have_attribute("aria-current", "page")
    expect_selected(ada, 4)


def test_keys_move_over_the_time_axis_and_change_its_range(ada: Page, session: str) -> None:
    ada.goto(f"{session}?axis=time&step=6")
    scrubber = ada.get_by_label("Step of the session")
    scrubber.focus()
    ada.keyboard.press("ArrowRight")
    expect_selected(ada, 7)
    expect(scrubber).to_have_attribute("aria-valuetext", re.compile(r"^Step 7 of 12, 19:00:0\d UTC$"))
    ada.keyboard.press("+")
    chip = ada.get_by_role("link", name=re.compile("^steps 2–12"))
    expect(chip).to_be_visible()
    expect_selected(ada, 7)
    ada.get_by_label("Step of the session").focus()
    ada.keyboard.press("-")
    expect(chip).to_have_count(0)
    expect(ada.locator("#minimap .picture[data-axis=time]")).to_be_visible()


@pytest.mark.parametrize("axis", ["steps", "time"])
def test_play_marks_no_further_step_until_the_last_one_is_shown(ada: Page, session: str, axis: str) -> None:
    held: list[Route] = []
    going_on: list[bool] = []
    ada.route("**/*step=*", lambda route: route.continue_() if going_on else held.append(route))
    ada.clock.install()
    ada.goto(f"{session}?axis={axis}")
    expect_selected(ada, 1)
    ada.locator("#speed").select_option("16")
    ada.locator("#play").click()
    ada.clock.run_for(1_000)
    marked = ada.locator("#scrubber").input_value()
    assert f"step={marked}&" in "".join(f"{route.request.url}&" for route in held)
    going_on.append(True)
    for route in held:
        route.continue_()
    expect_selected(ada, 12)
    expect(ada.locator("#scrubber")).to_have_value("12")
    expect(ada.locator("#play")).to_have_text("Play")


def test_play_follows_the_recorded_pace_and_skips_idle_time(ada: Page, session: str) -> None:
    ada.goto(f"{session}?axis=time")
    expect_selected(ada, 1)
    play = ada.locator("#play")
    began = time.monotonic()
    play.click()
    expect(play).to_have_text("Pause")
    wait_until(lambda: int(ada.locator("#step").get_attribute("data-sequence") or 0) >= 4)
    assert time.monotonic() - began > 2.5, "four steps, a second apart, are three seconds of recording"
    ada.get_by_label("Times the recorded pace").select_option("64")
    expect_selected(ada, 12)
    expect(play).to_have_text("Play")
