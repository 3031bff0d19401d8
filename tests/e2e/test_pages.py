"""Every page, full and empty, in both themes and three widths: nothing overflows, axe finds nothing, nothing foreign loads."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import AXE, Product, Watched
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

WIDTHS = (360, 900, 1440)
THEMES = ("light", "dark")
PICTURES = Path(__file__).resolve().parents[2] / "build" / "pictures"
OF_AXE = "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})).violations.map(v => `${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join(' ')}`)"


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def demo(api: httpx.Client) -> dict[str, Any]:
    """The demo, replayed to its end."""
    made: dict[str, Any] = api.post("/demo").json()
    grid = {"top_k": [4, 16]}
    made["sweep"] = api.post(f"/sessions/{made['session']['id']}/sweeps", json=grid).json()["sweep_id"]
    jobs = [*(f"/replays/{each['id']}" for each in made["replays"]), f"/sweeps/{made['sweep']}"]
    wait_until(lambda: all(api.get(each).json()["status"] == "done" for each in jobs), 60)
    return made | {"comparison": compared(api, made["session"]["id"])}


def compared(api: httpx.Client, session: str) -> dict[str, Any]:
    """A comparison of two models over the session, to its end, with a mark, and one of its cells."""
    arms = [{"model": "local:extractive-1"}, {"model": "local:extractive-5"}]
    body = {"sessions": [session], "arms": arms, "reason": "Which says enough?", "noise_floor": True}
    address = f"/comparisons/{api.post('/comparisons', json=body).json()['comparison_id']}"
    wait_until(lambda: api.get(address).json()["status"] == "done", 60)
    asked = api.get(f"{address}/cells").json()["items"][0]
    mark = {
        "session": session,
        "sequence": asked["sequence"],
        "arm": 2,
        "verdict": "worse",
        "note": "Wanders.",
    }
    assert api.post(f"{address}/marks", json=mark).status_code == 201
    found: dict[str, Any] = api.get(address).json()
    return found


@pytest.fixture(
    params=[(width, theme) for theme in THEMES for width in WIDTHS], ids=lambda each: f"{each[1]}-{each[0]}"
)
def screen(
    request: pytest.FixtureRequest, browser: Browser, product: Product, signed_in: list[dict[str, Any]]
) -> Iterator[Page]:
    width, theme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    watched = Watched(context.new_page(), product.url)
    watched.page.set_default_timeout(15_000)
    yield watched.page
    context.close()
    assert watched.faults == []


def test_the_empty_pages_are_sound(screen: Page, product: Product) -> None:
    faults: list[str] = []
    for name, path in {
        "sessions": "/?q=nothing-of-that-name",
        "collection": "/collections/nope/",
        "missing": "/nope/",
    }.items():
        faults += look(screen, f"empty-{name}", product.url + path)
    assert faults == []


def test_every_page_is_sound(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    faults = [fault for name, path in pages(demo).items() for fault in look(screen, name, product.url + path)]
    assert faults == []


def pages(demo: dict[str, Any]) -> dict[str, str]:
    """The addresses of the pages, with the demo in them."""
    session = f"/sessions/{demo['session']['id']}"
    debug, audit = (f"/replays/{each['id']}" for each in demo["replays"])
    both = f"a={demo['session']['id']}&b={demo['replays'][0]['id']}"
    return {
        "sessions": "/",
        "timeline": f"{session}/?step=2",
        "timeline-state": f"{session}/?step=8&tab=state",
        "timeline-context": f"{session}/?step=2&tab=context",
        "timeline-raw": f"{session}/?step=2&tab=raw",
        "launch": f"{session}/replay/",
        "debug-replay": f"{debug}/",
        "debug-step": f"{debug}/steps/2/",
        "audit-replay": f"{audit}/",
        "audit-step": f"{audit}/steps/2/",
        "compare": f"/compare/?{both}",
        "compare-steps": f"/compare/steps/?{both}&left=2&right=2",
        "compare-choose": f"/compare/?a={demo['session']['id']}",
        "comparisons": "/comparisons/",
        "new-comparison": f"/comparisons/new/?session={demo['session']['id']}",
        "comparison": f"/comparisons/{demo['comparison']['id']}/?show=changed&against=1",
        "collections": "/collections/",
        "collection": "/collections/demo: card desk handbook/",
        "frame": "/collections/demo: card desk handbook/frames/12/",
        "new-session": "/sessions/new/",
        "import": "/import/",
        "share": f"{session}/share/",
        "shares": "/shares/",
        "settings": "/settings/",
        "models": "/settings/models/",
    }


def test_the_page_of_a_cell_is_sound(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/")
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    assert look(screen, "comparison-cell", f"{product.url}{cell}") == []


def look(page: Page, name: str, address: str) -> list[str]:
    """Open the page, keep a picture of it, and let axe and the ruler at it; what they found."""
    page.goto(address)
    width = page.viewport_size["width"] if page.viewport_size else 0
    theme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}-{theme}-{width}.png")
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.evaluate(AXE.read_text())
    found = [f"{name}: {fault}" for fault in page.evaluate(OF_AXE)]
    return [*found, f"{name}: {wide} px wide"] if wide > width else found


def test_the_timelines_picture_is_kept_for_the_readme(
    screen: Page, product: Product, demo: dict[str, Any]
) -> None:
    assert (
        look(screen, "timeline", f"{product.url}/sessions/{demo['session']['id']}/?step=2&tab=context") == []
    )
    if os.environ.get("KEEP_PICTURES"):
        kept = PICTURES.parent.parent / "docs" / "pictures"
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(PICTURES / "timeline-light-1440.png", kept / "timeline.png")
