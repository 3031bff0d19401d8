"""A replay that runs, on the timeline of the session that it replays: how far it is, and each row's verdict as it comes."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Product
from tests.e2e.looking import look
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

pytestmark = pytest.mark.browser
ASKS = 12
ANSWER = "Cats sleep sixteen hours a day."


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.5))
        running.script(Script(question="(0)", answer=ANSWER))
        yield running


@pytest.fixture(scope="module")
def product(
    used_home: Path, tmp_path_factory: pytest.TempPathFactory, stub: StubModelServer
) -> Iterator[Product]:
    """`make up` with a slow model server beside it that is asked one question at a time."""
    model = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{stub.url}/v1", "MODEL_CALLS_AT_ONCE": "1"}
    home = copied(used_home, tmp_path_factory.mktemp("replayed") / "home")
    machine = Machine(home, **model).ready()
    yield Product(machine)
    assert machine.end() == 0


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    """An ended session of asks."""
    api.post("/collections/facts/put", json={"text": ANSWER, "title": "Cats"}).raise_for_status()
    made = api.post("/sessions", json={"name": "Cats", "collection": "facts"}).json()["id"]
    for ask in range(ASKS):
        question = {"question": f"How long do cats sleep? ({ask})", "use_model": "local:extractive-1"}
        api.post(f"/sessions/{made}/ask", json=question).raise_for_status()
    api.post(f"/sessions/{made}/end").raise_for_status()
    return str(made)


def launched(api: httpx.Client, session: str) -> str:
    options = {"audit": True, "reason": "Regression", "use_models": ["openai:gpt-4o-mini"]}
    answer = api.post(f"/sessions/{session}/replays", json=options)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["replay_id"])


def test_a_running_replay_tells_its_progress_and_the_verdict_of_each_row(
    ada: Page, product: Product, api: httpx.Client, session: str
) -> None:
    replay = launched(api, session)
    steps = api.get(f"/replays/{replay}").json()["steps"]["total"]
    ada.goto(f"{product.url}/replays/{replay}/")
    ada.get_by_role("link", name="Show on the timeline").click()
    ada.wait_for_url(f"**/?replay={replay}")
    ada.locator("#filter").focus()
    expect(ada.locator(".replays .status")).to_contain_text("Replay running:")
    expect(ada.locator("#s1 .replayed")).to_contain_text("identical")
    expect(ada.locator(f"#s{2 * ASKS - 1} .replayed")).to_contain_text("waiting")
    expect(ada.locator(".lanes .reach").first).to_be_attached()
    expect(ada.locator("#s3 .replayed")).to_contain_text("≠")
    wait_until(lambda: api.get(f"/replays/{replay}").json()["status"] == "done")
    expect(ada.locator(".replays .status")).to_have_text(f"Replay done: {steps} of {steps} steps")
    expect(ada.locator(f"#s{2 * ASKS - 1} .replayed")).not_to_contain_text("waiting")
    expect(ada.locator("#live")).to_have_text(f"Replay done: {steps} of {steps} steps")
    expect(ada.locator("#filter")).to_be_focused()
    asked: list[str] = []
    ada.on("request", lambda request: asked.append(request.url))
    ada.wait_for_timeout(2_500)
    assert asked == []
    ada.locator("#s5 > a").first.click()
    ada.wait_for_url(f"**/?step=5&replay={replay}")
    expect(ada.locator("#s5 .replayed")).to_be_visible()


def test_the_timeline_of_a_replayed_session_is_a_sound_page(
    screen: Page, product: Product, api: httpx.Client, session: str
) -> None:
    replay = launched(api, session)
    wait_until(lambda: api.get(f"/replays/{replay}").json()["status"] == "done")
    assert (
        look(screen, "timeline-replayed", f"{product.url}/sessions/{session}/?step=1&replay={replay}") == []
    )
