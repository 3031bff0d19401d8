"""Fixtures: a project of the running product, and a browser."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.chromium import required
from tests.e2e import long_session as long
from tests.e2e.looking import HEIGHT, WIDTHS
from tests.e2e.product import Product
from tests.e2e.shared_product import SharedProduct
from tests.locking import shared_folder
from tests.measuring import unmeasured

LOGGED = 6_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the product logged last: its processes say more than the page."""
    report = yield
    product = item.funcargs.get("product")
    if report.failed and isinstance(product, Product):
        for log in sorted(product.home.glob("logs/*.log")):
            report.sections.append((f"end of {log.name}", log.read_text(errors="replace")[-LOGGED:]))
    return report


@pytest.fixture(scope="module", autouse=True)
def measured_elsewhere() -> Iterator[None]:
    """Turn coverage off: these tests only drive a browser, and the product runs in other processes."""
    with unmeasured():
        yield


@pytest.fixture(scope="session")
def shared_product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProduct]:
    """The product that no test kills."""
    shared = SharedProduct(shared_folder(tmp_path_factory), used_home)
    yield shared
    shared.wait()


@pytest.fixture(scope="module")
def product(shared_product: SharedProduct) -> Iterator[Product]:
    """An empty project for the tests of one file."""
    with shared_product.project() as project:
        yield project


@pytest.fixture(scope="session")
def long_session(shared_product: SharedProduct) -> Iterator[Product]:
    """A project with a long session, for several files of one process."""
    with shared_product.project() as project:
        long.record(project)
        yield project


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium; without one these tests are skipped, in CI they fail."""
    running = playwright.chromium.launch(executable_path=str(required()), args=FLAGS)
    yield running
    running.close()


class Watched:
    """A page that fails its test when the console shows an error or a request leaves the product."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("request", lambda request: self._request(request.url, origin))

    def _console(self, kind: str, text: str) -> None:
        # Chromium logs "failed to load" for every page answered with 4xx; the test checks the page itself
        if kind == "error" and "Failed to load resource" not in text:
            self.faults.append(f"console: {text}")

    def _request(self, url: str, origin: str) -> None:
        if urlsplit(url).scheme in {"http", "https"} and not url.startswith(origin):
            self.faults.append(f"foreign request: {url}")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A new browser context without cookies."""
    made = browser.new_context(viewport={"width": 1440, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, product: Product) -> Iterator[Page]:
    """A watched page."""
    watched = Watched(context.new_page(), product.url)
    yield watched.page
    assert watched.faults == []


@pytest.fixture(scope="module")
def signed_in(product: Product) -> list[dict[str, Any]]:
    """The cookies of the administrator."""
    return product.cookies()


@pytest.fixture
def ada(context: BrowserContext, page: Page, signed_in: list[dict[str, Any]]) -> Page:
    """A page on which the administrator is signed in."""
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    return page


@pytest.fixture
def screen(browser: Browser, product: Product, signed_in: list[dict[str, Any]]) -> Iterator[Page]:
    """The administrator's watched page at desktop width."""
    context = browser.new_context(viewport={"width": WIDTHS[-1], "height": HEIGHT})
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    watched = Watched(context.new_page(), product.url)
    yield watched.page
    context.close()
    assert watched.faults == []
