"""Every page, full and empty, in both themes and at three widths: no overflow, no axe violation, no foreign request."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from pypdfium2 import PdfDocument

from tests.e2e.demo import demo_of, pages
from tests.e2e.gallery import DEMO, keep
from tests.e2e.looking import faults_at, faults_on
from tests.e2e.product import Product
from tests.e2e.sharing import opened

pytestmark = pytest.mark.browser

PHONE = 360
NARROWEST = 320
SCROLLING = (
    "(where) => [...document.querySelectorAll(where)].filter(e => e.scrollWidth > e.clientWidth).length"
)
WITH_TABLES = (
    "debug-replay",
    "audit-replay",
    "where",
    "notes",
    "tried",
    "sweep",
    "launch",
    "compare",
    "collection",
    "comparisons",
    "patterns",
    "pattern",
    "suites",
    "suite",
    "costs",
    "evidence",
    "settings",
    "models",
    "redaction",
)
OUTSIDE = "(width) => [...document.querySelectorAll('main :is(td, th, button)')].filter(e => e.checkVisibility() && !e.closest('thead') && e.getBoundingClientRect().right > width).map(e => e.textContent.trim().slice(0, 40))"


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def demo(api: httpx.Client) -> dict[str, Any]:
    return demo_of(api)


def test_the_empty_pages_have_no_faults(screen: Page, product: Product) -> None:
    faults: list[str] = []
    for name, path in {
        "sessions": "/?q=nothing-of-that-name",
        "collection": "/collections/nope/",
        "missing": "/nope/",
        "costs": "/costs/?since=2020-01-01&until=2020-01-02",
    }.items():
        faults += faults_at(screen, f"empty-{name}", product.url + path)
    assert not faults, "\n".join(faults)


def test_the_demo_pages_have_no_faults(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    faults: list[str] = []
    for name, path in pages(demo).items():
        faults += faults_at(screen, name, product.url + path)
        if name in WITH_TABLES:
            faults += [f"{name}: {cell} is beside the screen" for cell in screen.evaluate(OUTSIDE, PHONE)]
    assert not faults, "\n".join(faults)


@pytest.fixture
def phone(browser: Browser, signed_in: list[dict[str, Any]]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": PHONE, "height": 900})
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", ["timeline", "audit-replay", "comparison"])
def test_actions_fit_one_row_on_a_phone_with_the_rest_under_more(
    phone: Page, product: Product, demo: dict[str, Any], name: str
) -> None:
    phone.goto(product.url + pages(demo)[name])
    row = phone.locator("main .actions").first
    assert row.evaluate("e => e.getBoundingClientRect().height") <= 40
    rest = row.locator(".menu-items a").first
    expect(rest).to_be_hidden()
    row.get_by_text("More", exact=True).click()
    expect(rest).to_be_visible()
    phone.keyboard.press("Escape")
    expect(rest).to_be_hidden()


def test_the_navigation_is_one_line_on_a_phone_and_opens_without_a_script(
    phone: Page, product: Product
) -> None:
    phone.goto(f"{product.url}/suites/")
    phone.set_viewport_size({"width": NARROWEST, "height": 900})
    assert phone.evaluate(SCROLLING, "html, .masthead") == 0
    assert phone.locator(".masthead").evaluate("e => e.getBoundingClientRect().height") <= 48
    sections = phone.get_by_role("navigation", name="Pages", exact=True)
    expect(sections.get_by_role("link", name="Insights")).to_be_hidden()
    sections.get_by_role("button", name="Experiments").click()
    sections.get_by_role("link", name="Insights").click()
    expect(phone.get_by_role("heading", level=1, name="Patterns")).to_be_visible()
    phone.get_by_text("Search", exact=True).click()
    expect(phone.get_by_role("searchbox")).to_be_focused()


def test_comparison_figures_fit_a_wide_screen_and_scroll_in_their_box_on_a_phone(
    phone: Page, product: Product, demo: dict[str, Any]
) -> None:
    phone.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/")
    phone.evaluate("document.querySelectorAll('main details').forEach(e => { e.open = true })")
    assert phone.evaluate(SCROLLING, ".pair-block .scroll") == len(demo["comparison"]["arms"])
    assert phone.evaluate(SCROLLING, "html, main, .section, .pair-block") == 0
    phone.set_viewport_size({"width": 1440, "height": 900})
    assert phone.evaluate(SCROLLING, ".scroll") == 0


def test_the_page_of_a_cell_has_no_faults(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/")
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    faults = faults_at(screen, "comparison-cell", f"{product.url}{cell}")
    assert not faults, "\n".join(faults)


def test_shared_pages_have_no_faults(
    screen: Page, api: httpx.Client, demo: dict[str, Any], product: Product
) -> None:
    session, replay, comparison = demo["session"]["id"], demo["replays"][1]["id"], demo["comparison"]["id"]
    shown = {"shared-session": opened(screen, api, "session", session)}
    shown["shared-replay"] = opened(screen, api, "replay", replay)
    shown["shared-step"] = f"{shown['shared-replay']}steps/2/"
    shown["shared-comparison"] = opened(screen, api, "comparison", comparison)
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    shown["shared-cell"] = f"{product.url}{cell}"
    shown["shared-evidence"] = opened(screen, api, "session", session, evidence_only=True)
    shown["shared-print"] = f"{shown['shared-session']}print/"
    shown["shared-print-replay"] = f"{shown['shared-replay']}print/"
    shown["shared-print-comparison"] = f"{shown['shared-comparison']}print/"
    shown["shared-certificate"] = f"{shown['shared-session']}certificate/"
    shown["shared-verify"] = f"{product.url}/share/zzzzzzzzzzzz/verify/"
    faults = [fault for name, address in shown.items() for fault in faults_at(screen, name, address)]
    assert not faults, "\n".join(faults)


def test_every_step_is_printed_with_seal_and_page_numbers_and_the_certificate_on_one_page(
    screen: Page, api: httpx.Client, demo: dict[str, Any]
) -> None:
    session = demo["session"]["id"]
    shared = opened(screen, api, "session", session)
    record = printed(screen, f"{shared}print/")
    assert len(record) > 1
    assert all(f"Page {number} of {len(record)}" in text for number, text in enumerate(record, 1))
    assert all("Sealed " in text and "root" in text for text in record)
    assert re.search(r"End of the record: step (\d+) of \1", record[-1])
    [certificate] = printed(screen, f"{shared}certificate/")
    assert "Root (SHA-256)" in certificate


def printed(screen: Page, address: str) -> list[str]:
    """Return the text of each page of the browser's PDF."""
    screen.goto(address)
    with PdfDocument(screen.pdf(prefer_css_page_size=True)) as pages_printed:
        return [" ".join(each.get_textpage().get_text_range().split()) for each in pages_printed]


def test_the_pages_after_share_and_deletion_forms_have_no_faults(
    screen: Page, api: httpx.Client, demo: dict[str, Any], product: Product
) -> None:
    session = demo["session"]["id"]
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/share/")
    screen.get_by_label("Withhold").select_option("built-in")
    screen.get_by_role("button", name="Preview what is withheld").click()
    screen.locator("#preview").wait_for()
    faults = faults_on(screen, "share-preview")
    screen.locator("summary", has_text="evidence only").click()
    screen.get_by_label("Evidence only").check()
    screen.get_by_role("button", name="Preview what is withheld").click()
    screen.get_by_role("heading", name="No recorded text is shown").wait_for()
    faults += faults_on(screen, "share-preview-evidence")
    mail = api.post("/sessions", json={"name": "Mail"}).json()["id"]
    api.post(f"/sessions/{mail}/actions", json={"kind": "message", "output": "Write to ada@example.com."})
    screen.goto(f"{product.url}/sessions/{mail}/share/")
    screen.get_by_text("Nothing is withheld. Visitors can read").wait_for()
    faults += faults_on(screen, "share-suggestion")
    screen.get_by_role("button", name="Withhold these").click()
    screen.get_by_text("Withholds 1 match").wait_for()
    expect(screen.get_by_label("Withhold")).to_be_focused()
    expect(screen.get_by_label("Withhold")).to_have_value("built-in")
    body = {"target_type": "session", "target_id": session, "label": "For one click"}
    link = api.post("/shares", json=body).json()["id"]
    screen.goto(f"{product.url}/shares/{link}/")
    screen.get_by_role("button", name="Revoke").click()
    screen.get_by_role("status").get_by_text("For one click").wait_for()
    faults += faults_on(screen, "shares-revoked")
    screen.goto(f"{product.url}/sessions/{session}/delete/")
    screen.get_by_label("Session name").fill("a name")
    screen.get_by_label("Reason (optional)").fill("jo@example.org asked")
    screen.get_by_role("button", name="Delete session").click()
    screen.get_by_role("alert").wait_for()
    faults += faults_on(screen, "delete-session-refused")
    assert not faults, "\n".join(faults)


def test_every_page_has_its_picture_in_the_docs(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    keep(screen, {name: product.url + path for name, path in pages(demo).items()}, DEMO)


MAIN = (
    "sessions",
    "timeline",
    "launch",
    "audit-replay",
    "audit-step",
    "new-comparison",
    "comparison",
    "share",
    "models",
)
COVERED = "() => [...document.querySelectorAll('body *')].filter(e => ['fixed', 'sticky'].includes(getComputedStyle(e).position) && e.checkVisibility() && e.getBoundingClientRect().height > innerHeight / 3).length"
MOVING = "() => [...document.querySelectorAll('body *')].filter(e => getComputedStyle(e).transitionDuration.split(', ').some(each => parseFloat(each))).length + document.getAnimations().length"
FOCUS = "() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle === 'none' ? '' : style.outlineColor; }"
EDGES = "() => [...document.querySelectorAll('.sections > .navlink')].map(e => [e.ariaCurrent !== null, getComputedStyle(e).borderBottomColor])"


def main_pages(product: Product, demo: dict[str, Any]) -> dict[str, str]:
    """Return the addresses of the pages that the main tasks lead through."""
    shown = pages(demo)
    return {name: product.url + shown[name] for name in MAIN}


def test_main_pages_reflow_at_400_percent(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    screen.set_viewport_size({"width": NARROWEST, "height": 256})
    for name, address in main_pages(product, demo).items():
        screen.goto(address)
        assert screen.evaluate("document.documentElement.scrollWidth") <= NARROWEST, name
        assert screen.evaluate(OUTSIDE, NARROWEST) == [], name
        assert screen.evaluate(COVERED) == 0, name


def test_forced_colours_show_the_focus_and_the_current_place(
    screen: Page, product: Product, demo: dict[str, Any]
) -> None:
    screen.emulate_media(forced_colors="active")
    for name, address in main_pages(product, demo).items():
        screen.goto(address)
        for _ in range(3):
            screen.keyboard.press("Tab")
            assert screen.evaluate(FOCUS), name
        edges = screen.evaluate(EDGES)
        here = {color for current, color in edges if current}
        assert not here & {color for current, color in edges if not current}, name


def test_nothing_moves_when_reduced_motion_is_asked_for(
    screen: Page, product: Product, demo: dict[str, Any]
) -> None:
    screen.emulate_media(reduced_motion="reduce")
    for name, address in main_pages(product, demo).items():
        screen.goto(address)
        assert screen.evaluate(MOVING) == 0, name
