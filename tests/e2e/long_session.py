"""A long session, and what the tests of its timeline do with the page."""

from typing import Final

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.product import Product

STEPS: Final = 6_300
FAILED: Final = 4_321
ROW: Final = 32


def record(product: Product) -> None:
    """Record a session of `STEPS` steps, one of them failed, over HTTP."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as client:
        assert client.post("/sessions", json={"name": "Long run", "key": "long"}).status_code == 201
        for first in range(1, STEPS + 1, 900):
            actions = [action(number) for number in range(first, min(first + 900, STEPS + 1))]
            assert client.post("/sessions/long/actions", json={"actions": actions}).status_code == 201


def action(number: int) -> dict[str, object]:
    kinds = ("llm_call", "tool_call", "message")
    failed = {"error": {"type": "Timeout", "message": "Gave up"}} if number == FAILED else {}
    return {
        "kind": kinds[number % 3],
        "output": f"what step {number} said",
        "duration_ms": number % 1_000,
    } | failed


def selected(page: Page) -> int:
    return int(page.locator("#step").get_attribute("data-sequence") or 0)


def expect_selected(page: Page, sequence: int) -> None:
    expect(page.locator(f'#step[data-sequence="{sequence}"]')).to_be_attached()
    expect(page.locator(f"#s{sequence} > [aria-current=step]")).to_be_in_viewport()


def scroll_to(page: Page, pixels: int) -> None:
    page.evaluate("pixels => { document.querySelector('.list').scrollTop = pixels; }", pixels)
