"""The sessions list and the timeline in a real browser: accessible, small, usable by keyboard and without JavaScript."""

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.request import Request, urlopen

import pytest
from django.conf import settings as configured
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.web.people import browser_of
from tests.web.timelines import HOSTILE, example_actions
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AXE = (Path(__file__).resolve().parents[1] / "vendor" / "axe" / "axe.min.js").read_text()
RUN_AXE = """() => axe.run(document, {resultTypes: ["violations"], preload: false})
    .then((r) => r.violations.map((v) => [v.id, v.nodes[0].html]))"""
THEMES: dict[int, Literal["light", "dark"] | None] = {1440: "light", 900: None, 320: "dark"}
"""The widths, and the theme in which axe checks the page at each."""
UNUSUAL = (
    "/sessions/long/?step=1500&filter=kind:event",
    "/sessions/hostile/?step=1",
    "/sessions/empty/",
)
WRONG = "/sessions/story/?step=3&filter=knd:ask"
ADDRESSES = (
    "/",
    "/?q=nothing+like+it",
    "/sessions/story/?step=2",
    "/sessions/story/?step=2&tab=state",
    "/sessions/story/?step=2&tab=context",
    "/sessions/story/?step=2&tab=raw",
    *UNUSUAL,
)
MOST_NODES = 2_500
MOST_HTML = 60 * 1024


@pytest.fixture
def long(project: Project) -> None:
    """A session of 2,000 steps."""
    session = start_session(project, name="The long", by="test", key="long")
    for first in range(1, 2_001, 1_000):
        steps = range(first, first + 1_000)
        append(session.id, [ActionDraft(kind="event", output=f"step {n}", duration_ms=n) for n in steps])


@pytest.fixture
def cookie(project: Project, settings: Settings) -> str:
    """The cookie of a signed-in user, in a project with short sessions of every sort."""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    hostile = [
        ActionDraft(
            kind="ask", name=HOSTILE, tool=HOSTILE, input={HOSTILE: [HOSTILE] * 150}, output=HOSTILE * 400
        )
    ]
    for key, drafts in {"story": example_actions(), "hostile": hostile, "empty": []}.items():
        session = start_session(
            project, name=HOSTILE if key == "hostile" else f"The {key}", by="test", key=key
        )
        if drafts:
            append(session.id, drafts)
    return str(browser_of(project).cookies[configured.SESSION_COOKIE_NAME].value)


@contextmanager
def opened(chromium: Browser, server: LiveServer, cookie: str, **options: Any) -> Iterator[Page]:
    """Open a page as a signed-in user; any complaint of the browser fails the test."""
    context = chromium.new_context(**options)
    context.add_cookies([{"name": configured.SESSION_COOKIE_NAME, "value": cookie, "url": server.url}])
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if "Security Policy" in message.text else None,
    )
    page.on(
        "request",
        lambda request: complaints.append(request.url) if not request.url.startswith(server.url) else None,
    )
    yield page
    context.close()
    assert complaints == []


def wait_for_step(page: Page, step: int) -> None:
    """Wait until the row, the details, the number box and the address agree on that step."""
    page.wait_for_function(
        """(step) => document.getElementById("step")?.dataset.sequence === step
            && document.querySelector(".row > [aria-current]")?.parentNode.id === `s${step}`
            && document.getElementById("goto").value === step
            && (new URL(location.href).searchParams.get("step") ?? "1") === step""",
        arg=str(step),
    )


@pytest.mark.usefixtures("long")
def test_unusual_pages_are_accessible_and_light_at_every_width(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    """The usual pages are covered by tests/e2e/test_pages.py."""
    found = []
    with opened(chromium, live_server, cookie) as page:
        for address in (*UNUSUAL, WRONG):
            page.goto(live_server.url + address)
            page.evaluate(AXE)
            for width, theme in THEMES.items():
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=theme)
                violations = page.evaluate(RUN_AXE) if theme else []
                wider = page.evaluate("document.documentElement.scrollWidth > innerWidth")
                nodes = page.evaluate("document.querySelectorAll('*').length")
                if violations or wider or nodes > MOST_NODES:
                    found.append((width, address, violations, wider, nodes))
    assert found == []


def test_the_frame_around_the_rows_in_view_includes_what_is_folded_into_the_last_one(
    chromium: Browser, live_server: LiveServer, project: Project, cookie: str
) -> None:
    session = start_session(project, name="Folded", by="test", key="folded")
    append(session.id, example_actions()[:3])
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/folded/")
        expect(page.locator(".row")).to_have_count(2)
        expect(page.locator(".seen")).to_have_attribute("style", "left: 0%; width: 100%;")
        page.get_by_role("link", name="1 inside").click()
        expect(page.locator(".row")).to_have_count(3)
        expect(page.locator(".seen")).to_have_attribute("style", "left: 0%; width: 100%;")


def test_breadcrumbs_are_separated_and_end_without_a_separator(
    chromium: Browser, live_server: LiveServer, project: Project, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/share/")
        drawn = "all => all.map(each => getComputedStyle(each, '::after').content)"
        assert page.locator(".crumbs > *").evaluate_all(drawn) == ['"/"', "none"]


@pytest.mark.usefixtures("long")
def test_pages_stay_within_their_size_limit(live_server: LiveServer, cookie: str) -> None:
    for address in ADDRESSES:
        request = Request(
            live_server.url + address, headers={"Cookie": f"{configured.SESSION_COOKIE_NAME}={cookie}"}
        )
        with urlopen(request) as answer:
            assert len(gzip.compress(answer.read(), 6)) <= MOST_HTML, address


def test_steps_can_be_walked_by_keyboard(chromium: Browser, live_server: LiveServer, cookie: str) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/?step=1")
        page.focus("#s1 > a")
        for key, step in (("j", 2), ("j", 3), ("j", 4), ("k", 3), ("k", 2)):
            page.keyboard.press(key)
            wait_for_step(page, step)
        page.keyboard.press("2")
        page.wait_for_function(
            "() => document.querySelector('#step .tabs [aria-current]').textContent === 'State'"
        )
        page.keyboard.press("j")
        wait_for_step(page, 3)
        expect(page).to_have_url(re.compile("tab=state"))
        page.wait_for_function("() => document.activeElement.parentNode.id === 's3'")
        page.wait_for_function("() => document.getElementById('live').textContent === 'Step 3 of 5, find'")
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.type("5")
        page.keyboard.press("Enter")
        wait_for_step(page, 5)


def test_keys_in_a_field_are_text_and_shortcuts_can_be_turned_off(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/?step=1")
        page.keyboard.press("f")
        page.keyboard.type("jk?")
        assert page.locator("#filter").input_value() == "jk?"
        wait_for_step(page, 1)
        page.get_by_role("button", name="Shortcuts").click()
        page.get_by_role("button", name="Turn off keyboard shortcuts").click()
        page.wait_for_selector("html[data-keys=off]", state="attached")
        page.keyboard.press("j")
        page.wait_for_timeout(300)
        wait_for_step(page, 1)


def test_the_back_button_returns_step_by_step(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/?step=1")
        for step in (2, 4):
            page.click(f"#s{step} > a")
            wait_for_step(page, step)
        for step in (2, 1):
            page.go_back()
            wait_for_step(page, step)


def test_an_error_replaces_the_page_and_not_a_part_of_it(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/?step=1")
        page.evaluate(
            """() => {
                const link = document.querySelector("#s2 > a").cloneNode(true);
                link.setAttribute("hx-get", "/sessions/nowhere/?step=2");
                link.removeAttribute("data-htmx-powered");
                document.querySelector("#s2 > a").replaceWith(link);
                htmx.process(link);
            }"""
        )
        page.click("#s2 > a")
        page.wait_for_url("**/sessions/nowhere/?step=2")
        page.get_by_role("heading", name="Not found").wait_for()
        expect(page.locator("#step")).to_have_count(0)


def test_without_an_answer_the_current_content_stays(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie) as page:
        page.goto(f"{live_server.url}/sessions/story/?step=1")
        page.route("**/*step=4*", lambda request: request.abort())
        page.click("#s4 > a")
        page.get_by_text("The server did not respond").wait_for()
        assert "Find out why." in page.locator("#step").inner_text()
        page.unroute("**/*step=4*")
        page.click("#s4 > a")
        wait_for_step(page, 4)
        expect(page.locator("#trouble")).to_have_count(0)


ONCE_SETTLED = """() => new Promise(done => {
    const list = document.querySelector(".list");
    const top = () => [...document.querySelectorAll(".row")].find(
        (row) => row.getBoundingClientRect().bottom > list.getBoundingClientRect().top + 2)?.id.slice(1);
    let last, since;
    const look = () => {
        const now = `${top()} ${list.scrollTop}`;
        if (now !== last || !top()) [last, since] = [now, performance.now()];
        else if (performance.now() - since > 400) return done({top: Number(top()), scrolled: list.scrollTop});
        requestAnimationFrame(look);
    };
    look();
})"""
"""The first row of the list and its scroll position, once neither has changed for a while: rows that are not loaded yet take a moment."""


@pytest.mark.usefixtures("long")
def test_a_long_list_loads_as_it_is_scrolled_and_keeps_its_position(
    chromium: Browser, live_server: LiveServer, cookie: str
) -> None:
    with opened(chromium, live_server, cookie, viewport={"width": 1440, "height": 900}) as page:
        page.goto(f"{live_server.url}/sessions/long/?step=1500")
        page.mouse.move(300, 500)
        for distance in (2_400, 2_400, -2_400, -2_400, -4_800):
            before = page.evaluate(ONCE_SETTLED)
            page.mouse.wheel(0, distance)
            page.wait_for_function(
                "scrolled => document.querySelector('.list').scrollTop !== scrolled", arg=before["scrolled"]
            )
            moved = page.evaluate(ONCE_SETTLED)["top"] - before["top"]
            assert abs(moved - distance // 32) <= abs(distance // 32)
            assert page.evaluate("document.querySelectorAll('*').length") <= MOST_NODES
            rows = page.evaluate(
                "[...document.querySelectorAll('.row')].map((row) => Number(row.id.slice(1)))"
            )
            assert rows == list(range(rows[0], rows[-1] + 1))
        page.keyboard.press("j")
        wait_for_step(page, 1501)


@pytest.mark.usefixtures("long")
def test_everything_works_without_javascript(chromium: Browser, live_server: LiveServer, cookie: str) -> None:
    with opened(chromium, live_server, cookie, java_script_enabled=False) as page:
        page.goto(live_server.url)
        page.get_by_role("link", name="The story").click()
        page.get_by_role("link", name="Next step").click()
        expect(page.locator("#s2 > [aria-current]")).to_be_visible()
        page.get_by_role("link", name="1 inside").click()
        page.locator("#s3 > a").click()
        page.get_by_role("link", name="Context").click()
        expect(page.locator("#step")).to_contain_text("The text of 1.")
        page.get_by_role("link", name="Action").click()
        page.get_by_label("step", exact=True).fill("5")
        page.keyboard.press("Enter")
        expect(page.locator("#step")).to_contain_text("npm test exited with 1")
        page.goto(f"{live_server.url}/sessions/long/?step=1500")
        page.get_by_role("link", name="Later steps").click()
        expect(page.locator(".row > [aria-current]")).to_be_visible()
