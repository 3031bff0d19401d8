"""Hostile recordings on every page: nothing in them runs, loads or breaks the layout."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import Watched
from tests.e2e.hostile import COLLECTION, CORPUS, MIXTURES, TEXTS, recorded
from tests.e2e.product import Product

pytestmark = pytest.mark.browser

PHONE: Final = 360
DESKTOP: Final = 1440
TABS: Final = ("action", "state", "diff", "context", "raw")
VIEWS: Final = ("timeline", "table", "compact", "raw")
MOST_HTML: Final = 1_500_000
"""The largest allowed page, uncompressed: only the beginning of a line of five million characters is shown."""
CANARY_PATH: Final = "/pwned"
HARMED: Final = """() => [
    ...(window.pwned ? ["a script of the record ran"] : []),
    ...[...document.querySelectorAll("iframe, object, embed, base, [onclick], [onload], [onerror], [srcdoc], img[src*=pwned], [hx-get*=pwned], [href*=pwned], [src*=pwned]")]
        .filter(e => !(e.href && e.origin === location.origin && e.pathname !== "/pwned/"))
        .map(e => "made of the record: " + e.outerHTML.slice(0, 120)),
    ...[...document.querySelectorAll("a[href]")].filter(e => !["http:", "https:"].includes(e.protocol)).map(e => "leads to " + e.href.slice(0, 80)),
    ...(document.documentElement.scrollWidth > innerWidth ? ["wider than the screen: " + document.documentElement.scrollWidth] : []),
    ...(document.querySelector("main")?.contains(document.querySelector("#live")) ? ["the record closed an element of ours"] : []),
    ...(document.querySelectorAll("main").length === 1 && document.querySelectorAll("h1").length === 1 ? [] : ["not one main and one h1"]),
    ...(document.title.includes("Time Machine") ? [] : ["the title is not ours: " + document.title.slice(0, 80)]),
]"""


@pytest.fixture(scope="module")
def made(product: Product) -> Iterator[dict[str, str]]:
    """The recorded corpus."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=120) as client:
        yield recorded(client)


@pytest.fixture
def reader(browser: Browser, product: Product, signed_in: list[dict[str, Any]]) -> Iterator[Page]:
    """The administrator's watched page."""
    context = browser.new_context()
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    watched = Watched(context.new_page(), product.url)
    watched.page.on("dialog", lambda dialog: watched.faults.append(f"dialog: {dialog.message}"))
    watched.page.on("request", lambda request: loaded(request.url, watched.faults))
    yield watched.page
    context.close()
    assert watched.faults == []


def loaded(url: str, faults: list[str]) -> None:
    """Note a request to an address from the recording."""
    if urlsplit(url).path.startswith(CANARY_PATH):
        faults.append(f"loaded by the record: {url}")


def harm(page: Page, address: str) -> list[str]:
    """Return the faults of a page at phone and desktop width, including a wrong status or size."""
    page.set_viewport_size({"width": PHONE, "height": 900})
    answer = page.goto(address)
    assert answer is not None
    found = [] if answer.status in (200, 422) else [f"status {answer.status}"]
    if len(answer.body()) > MOST_HTML:
        found.append(f"{len(answer.body()):,} bytes")
    found += page.evaluate(HARMED)
    page.set_viewport_size({"width": DESKTOP, "height": 900})
    found += page.evaluate(HARMED)
    return [f"{urlsplit(address).path}?{urlsplit(address).query[:60]}: {each}" for each in found]


def test_recorded_text_cannot_run_load_or_break_anything_on_a_page(
    reader: Page, product: Product, made: dict[str, str]
) -> None:
    assert [fault for path in pages(made) for fault in harm(reader, product.url + path)] == []


def test_recorded_text_is_shown_as_written(reader: Page, product: Product, made: dict[str, str]) -> None:
    reader.goto(f"{product.url}/sessions/hostile/?step=1")
    shown = reader.locator("#step").inner_text()
    assert [name for name in MIXTURES["markup"] if name != "format" and CORPUS[name] not in shown] == []


def test_recorded_text_is_equally_harmless_on_shared_pages(
    browser: Browser, product: Product, made: dict[str, str]
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    watched = Watched(context.new_page(), product.url)
    watched.page.on("request", lambda request: loaded(request.url, watched.faults))
    watched.page.goto(made["share"])
    watched.page.locator("main button").click()
    watched.page.wait_for_url("**/share/**/")
    inside = watched.page.url
    faults = harm(watched.page, inside)
    for link in [
        each.get_attribute("href") or "" for each in watched.page.locator("main a[href*='step=']").all()[:30]
    ]:
        faults += harm(watched.page, str(httpx.URL(inside).join(link)))
    context.close()
    assert faults + watched.faults == []


def pages(made: dict[str, str]) -> list[str]:
    """Return every page that shows some of the corpus, and pages with the corpus as input."""
    session = "/sessions/hostile"
    last = 2 * len(TEXTS)
    steps = [
        f"{session}/?step={step}&tab={tab}"
        for step in range(1, last + 3)
        for tab in (TABS[step % 2 :: 2] if 2 < step <= last else TABS)
    ]
    typed = [quote(text, errors="replace") for text in TEXTS.values()]
    return [
        "/",
        *steps,
        *(f"{session}/?view={view}" for view in VIEWS),
        *(f"{session}/totals/?by={by}" for by in ("kind", "tool", "model", "agent")),
        *(f"{session}/?filter={each}" for each in typed),
        *(f"/?q={each}&agent={each}&tag={each}" for each in typed),
        *(f"/search/?q={each}&mode=text" for each in typed),
        f"{session}/notes/",
        f"{session}/work/",
        f"{session}/replay/",
        f"{session}/where/?frame=1",
        f"{session}/sweep/",
        f"{session}/share/",
        *(f"{session}/steps/{step}/trial/" for step in (1, 3)),
        *(f"/replays/{made[kind]}/" for kind in ("audit", "debug")),
        *(
            f"/replays/{made[kind]}/steps/{step}/"
            for kind in ("audit", "debug")
            for step in range(1, last, 2)
        ),
        f"/compare/?a={made['session']}&b={made['audit']}",
        f"/compare/steps/?a={made['session']}&b={made['audit']}&left=1&right=1",
        "/comparisons/",
        f"/comparisons/{made['comparison']}/",
        "/suites/",
        f"/suites/{made['suite']}/",
        f"/suites/{made['suite']}/edit/",
        "/costs/",
        "/collections/",
        f"/collections/{COLLECTION}/",
        *(f"/collections/{COLLECTION}/?q={each}" for each in typed),
        *(f"/collections/{COLLECTION}/frames/{number}/" for number in range(len(TEXTS))),
        "/shares/",
        "/settings/",
    ]
