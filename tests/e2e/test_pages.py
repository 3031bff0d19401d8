"""Every page, full and empty, in both themes and at three widths: no overflow, no axe violation, no foreign request."""

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.demo import demo_of, pages
from tests.e2e.looking import PICTURES, faults_at, faults_on
from tests.e2e.product import Product

pytestmark = pytest.mark.browser

DOCS_PICTURES = PICTURES.parent.parent / "docs" / "pictures"
GALLERY = {
    "sessions": "Sessions",
    "timeline": "Timeline",
    "timeline-state": "Timeline: state at a step",
    "timeline-diff": "Timeline: what a step changed",
    "timeline-context": "Timeline: frozen context",
    "timeline-raw": "Timeline: the raw step",
    "timeline-table": "Timeline: table view",
    "timeline-compact": "Timeline: compact view",
    "timeline-documents": "Timeline: JSON view",
    "totals": "Totals",
    "notes": "Notes",
    "transcript": "Transcript",
    "significance": "Significance",
    "work": "Record manually",
    "launch": "Launch a replay",
    "audit-replay": "Audit replay",
    "audit-step": "Audit replay: one step",
    "debug-replay": "Debug replay",
    "debug-step": "Debug replay: one step",
    "where": "Rank of a frame",
    "trial": "Try one change",
    "tried": "Result of a trial",
    "new-sweep": "New sweep",
    "sweep": "Sweep of retrieval settings",
    "compare": "Two sessions aligned",
    "compare-steps": "Two steps side by side",
    "comparisons": "Comparisons",
    "new-comparison": "New comparison",
    "comparison": "Comparison of models",
    "suites": "Suites",
    "new-suite": "New suite",
    "suite": "Suite and its runs",
    "suite-run": "What changed in a run",
    "search": "Search",
    "recall-around": "Recall with surrounding turns",
    "patterns": "Patterns",
    "pattern": "Pattern and its sessions",
    "costs": "Costs",
    "collections": "Collections",
    "collection": "Collection",
    "collection-found": "Search results in a collection",
    "frame": "Frame and its versions",
    "new-session": "New session",
    "import": "Import",
    "evidence": "Evidence",
    "share": "New share link",
    "shares": "Share links",
    "share-policy": "Sharing policy",
    "settings": "Settings",
    "models": "Models",
    "redaction": "Redaction",
    "training": "Training pairs",
    "retention": "Retention",
    "hold": "Legal hold",
}
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
    assert faults == []


def test_the_demo_pages_have_no_faults(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    faults: list[str] = []
    for name, path in pages(demo).items():
        faults += faults_at(screen, name, product.url + path)
        if name in WITH_TABLES:
            faults += [f"{name}: {cell} is beside the screen" for cell in screen.evaluate(OUTSIDE, PHONE)]
    assert faults == []


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
    rest = row.locator(".rest a").first
    expect(rest).to_be_hidden()
    row.get_by_text("More", exact=True).click()
    expect(rest).to_be_visible()
    phone.set_viewport_size({"width": 1440, "height": 900})
    phone.reload()
    expect(rest).to_be_visible()
    expect(row.get_by_text("More", exact=True)).to_be_hidden()


def test_the_menu_and_the_project_name_fit_on_a_phone(phone: Page, product: Product) -> None:
    phone.goto(f"{product.url}/")
    assert phone.evaluate(SCROLLING, ".mainnav, .project") == 0
    phone.set_viewport_size({"width": NARROWEST, "height": 900})
    assert phone.evaluate(SCROLLING, ".mainnav") == 0
    assert phone.evaluate("[...document.querySelectorAll('.mainnav a')].every(e => e.checkVisibility())")
    assert phone.locator(".project").get_attribute("title") == "Project My project"


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
    assert faults_at(screen, "comparison-cell", f"{product.url}{cell}") == []


def opened(
    page: Page, api: httpx.Client, target_type: str, target_id: str, *, evidence_only: bool = False
) -> str:
    """Create a share link, open it in the page, and return the address it leads to."""
    body = {"target_type": target_type, "target_id": target_id, "evidence_only": evidence_only}
    page.goto(api.post("/shares", json=body).json()["url"])
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/share/*/")
    return page.url


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
    assert [fault for name, address in shown.items() for fault in faults_at(screen, name, address)] == []


def test_the_pages_after_share_and_deletion_forms_have_no_faults(
    screen: Page, api: httpx.Client, demo: dict[str, Any], product: Product
) -> None:
    session = demo["session"]["id"]
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/share/")
    screen.get_by_label("Withhold").select_option("built-in")
    screen.get_by_role("button", name="Preview redaction").click()
    screen.locator("#preview").wait_for()
    faults = faults_on(screen, "share-preview")
    screen.get_by_label("Evidence only").check()
    screen.get_by_role("button", name="Preview redaction").click()
    screen.get_by_role("heading", name="No recorded text is shown").wait_for()
    faults += faults_on(screen, "share-preview-evidence")
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
    assert faults == []


def test_every_page_has_its_picture_in_the_docs(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    addresses = pages(demo)
    if os.environ.get("KEEP_PICTURES"):
        DOCS_PICTURES.mkdir(parents=True, exist_ok=True)
        for name in GALLERY:
            screen.goto(product.url + addresses[name])
            screen.screenshot(path=DOCS_PICTURES / f"{name}.jpg", type="jpeg", quality=70)
        (DOCS_PICTURES.parent / "pages.md").write_text(gallery())
    assert [name for name in GALLERY if not (DOCS_PICTURES / f"{name}.jpg").exists()] == []
    assert (DOCS_PICTURES.parent / "pages.md").read_text() == gallery()


def gallery() -> str:
    """The page of the docs with all screenshots."""
    shown = "\n".join(f"## {words}\n\n![{words}](pictures/{name}.jpg)\n" for name, words in GALLERY.items())
    return (
        f"# Pages\n\nEvery page after `timemachine demo`. `make pictures` retakes the screenshots.\n\n{shown}"
    )
