"""The product as `make up` runs it, and a real browser in front of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.chromium import required
from tests.e2e.looking import HEIGHT, WIDTHS
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.measuring import unmeasured

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
]


@pytest.fixture(scope="module", autouse=True)
def measured_elsewhere() -> Iterator[None]:
    """What runs here is a browser's driver: the product has processes of its own."""
    with unmeasured():
        yield


class Product:
    """A running Time Machine: its address, its one-time link, its local key."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.url = f"http://127.0.0.1:{machine.port}"
        link = re.search(r"http://\S+/sign-in/\S+", machine.output)
        assert link is not None
        self.sign_in_link = link.group()

    @property
    def key(self) -> str:
        return (self.machine.home / "local-key").read_text().strip()

    @property
    def environment(self) -> dict[str, str]:
        """What a `timemachine` command on this machine sees."""
        return {"TIMEMACHINE_HOME": str(self.machine.home)}


@pytest.fixture(scope="module")
def product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """`make up` with nothing recorded yet, for the stories of one file."""
    home = copied(used_home, tmp_path_factory.mktemp("product") / "home")
    machine = Machine(home, LEASE_SECONDS="3", SWEEP_SECONDS="1").ready()
    yield Product(machine)
    assert machine.end() == 0


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
        page.on("console", lambda said: self._console(said.type, said.text))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("request", lambda request: self._request(request.url, origin))

    def _console(self, kind: str, text: str) -> None:
        # Chromium says of every page answered with 4xx that it "failed to load"; the test looks at the page itself
        if kind == "error" and "Failed to load resource" not in text:
            self.faults.append(f"console: {text}")

    def _request(self, url: str, origin: str) -> None:
        if urlsplit(url).scheme in {"http", "https"} and not url.startswith(origin):
            self.faults.append(f"foreign request: {url}")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own, without cookies."""
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
def signed_in(browser: Browser, product: Product) -> list[dict[str, object]]:
    """The cookies of the administrator, who came by the link of the first start and chose a password."""
    made = browser.new_context()
    page = made.new_page()
    page.goto(product.sign_in_link)
    page.get_by_role("button").first.click()
    page.wait_for_url("**/welcome/**")
    page.get_by_label("E-mail").fill("ada@example.org")
    page.get_by_label("Name").fill("Ada Prüferin")
    for field in page.locator("input[type=password]").all():
        field.fill("a long enough passphrase")
    page.locator("main button[type=submit]").click()
    page.wait_for_url(f"{product.url}/")
    cookies = made.cookies()
    made.close()
    return [dict(cookie) for cookie in cookies]


@pytest.fixture
def ada(context: BrowserContext, page: Page, signed_in: list[dict[str, object]]) -> Page:
    """A page on which the administrator is signed in."""
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    return page


@pytest.fixture
def screen(browser: Browser, product: Product, signed_in: list[dict[str, object]]) -> Iterator[Page]:
    """The administrator's watched page, on a desk."""
    context = browser.new_context(viewport={"width": WIDTHS[-1], "height": HEIGHT})
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    watched = Watched(context.new_page(), product.url)
    yield watched.page
    context.close()
    assert watched.faults == []
