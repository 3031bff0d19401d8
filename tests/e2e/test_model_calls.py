"""A run of model calls in a real browser: replayed, compared, continued and shared, with a scripted provider."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import claims
from tests.e2e.gallery import CALLS, keep
from tests.e2e.looking import faults_at
from tests.e2e.product import OwnProduct, Product, with_models_of
from tests.e2e.replaying import client
from tests.e2e.sharing import opened
from tests.stub_model_server import StubModelServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnProduct]:
    """`make up` with a scripted provider."""
    with StubModelServer() as stub:
        claims.play(stub)
        with with_models_of(stub, used_home, tmp_path_factory.mktemp("with-calls")) as running:
            yield running


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    with client(product) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    return claims.record(api)


@pytest.fixture(scope="module")
def pages(product: Product, api: httpx.Client, session: str) -> dict[str, str]:
    """The addresses of the pages of model calls, by name."""
    replay, comparison = claims.replayed(api, session), claims.compared(api, session)
    waiting = claims.continued(api, session, claims.CAREFUL)
    branch = api.get(f"/replays/{waiting}").json()["continuation"]["branch"]
    return {
        name: product.url + path
        for name, path in {
            "calls-timeline": f"/sessions/{session}/?step=8",
            "calls-request": f"/sessions/{session}/?step=8&tab=context",
            "calls-launch": f"/sessions/{session}/replay/",
            "calls-replay": f"/replays/{replay}/",
            "calls-step": f"/replays/{replay}/steps/8/",
            "calls-comparison": f"/comparisons/{comparison}/",
            "calls-continue": f"/sessions/{session}/continue/?from=2",
            "calls-continued": f"/replays/{waiting}/",
            "calls-branch": f"/sessions/{branch}/",
            "calls-compare": f"/compare/?a={session}&b={branch}",
            "calls-trial": f"/sessions/{session}/steps/8/trial/",
        }.items()
    } | {"calls-go-on": f"{product.url}/replays/{waiting}/continue/"}


def test_the_pages_of_model_calls_have_no_faults(
    screen: Page, product: Product, api: httpx.Client, pages: dict[str, str]
) -> None:
    faults = [fault for name, address in pages.items() for fault in faults_at(screen, name, address)]
    screen.goto(pages["calls-comparison"])
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    faults += faults_at(screen, "calls-cell", f"{product.url}{cell}")
    replay, waiting = (pages[name].rsplit("/", 2)[1] for name in ("calls-replay", "calls-continued"))
    shared = opened(screen, api, "replay", replay)
    faults += faults_at(screen, "calls-shared-replay", shared)
    faults += faults_at(screen, "calls-shared-step", f"{shared}steps/8/")
    faults += faults_at(screen, "calls-shared-continuation", opened(screen, api, "replay", waiting))
    branch = pages["calls-branch"].rsplit("/", 2)[1]
    faults += faults_at(screen, "calls-shared", opened(screen, api, "session", branch))
    assert not faults, "\n".join(faults)


def test_a_run_is_replayed_continued_and_shared_by_clicks(
    ada: Page, product: Product, session: str, browser: Browser
) -> None:
    # from the timeline to where another model would have done something else
    ada.goto(f"{product.url}/sessions/{session}/")
    ada.get_by_role("link", name="Replay", exact=True).click()
    ada.get_by_label("Ask another model").check()
    ada.get_by_label("Model", exact=True).fill(claims.HASTY)
    ada.get_by_label("Reason").fill("Would it have paid the same?")
    ada.get_by_role("button", name="Launch replay").click()
    outcome = ada.locator(".outcome")
    expect(outcome).to_contain_text("3 identical, other arguments in 1; the runs first diverge at step 8")
    ada.get_by_role("link", name="Open step 8").click()
    expect(ada.locator("main .verdict").first).to_have_text("other arguments")
    expect(ada.locator("main")).to_contain_text("amount: 480")

    # on from the first call, until the record has no result
    ada.goto(f"{product.url}/sessions/{session}/?step=2")
    ada.get_by_role("link", name="Continue from here").click()
    ada.get_by_label("Model", exact=True).fill(claims.CAREFUL)
    ada.get_by_role("button", name="Continue", exact=True).click()
    expect(outcome).to_contain_text("Diverged at step 7 of the branch: there is no recorded result for")
    ada.get_by_label("Result of ask_clerk", exact=True).fill("No.")
    ada.get_by_role("button", name="Continue", exact=True).click()
    expect(outcome).to_contain_text("1 result supplied by a person")
    ada.get_by_role("link", name="Compare with the recording").click()
    expect(ada.locator("main .finding").first).to_contain_text(
        "They diverge at step 8 on the left and step 7 on the right"
    )
    ada.get_by_role("link", name="Open both steps").click()
    expect(ada.locator("main")).to_contain_text("ask_clerk")
    ada.go_back()
    ada.go_back()

    # and to someone without an account
    ada.get_by_role("link", name="Share", exact=True).click()
    ada.get_by_role("button", name="Create link").click()
    auditor = browser.new_context()
    visitor = auditor.new_page()
    visitor.goto(ada.locator("#shown_once").first.input_value())
    visitor.get_by_role("button", name="Open", exact=True).click()
    expect(visitor.locator("main")).to_contain_text("1 result supplied by a person")
    expect(visitor.locator("main")).to_contain_text("ask_clerk")
    visitor.locator("[data-check-here] button").click()
    expect(visitor.locator("[data-check-here] [role=status]")).to_contain_text(
        "Consistent, signer not checked"
    )
    expect(visitor.get_by_role("button", name="Verify again")).to_be_focused()
    auditor.close()


def test_the_pages_of_model_calls_have_their_pictures_in_the_docs(
    screen: Page, api: httpx.Client, pages: dict[str, str]
) -> None:
    branch = pages["calls-branch"].rsplit("/", 2)[1]
    keep(screen, {**pages, "calls-shared": opened(screen, api, "session", branch)}, CALLS)
