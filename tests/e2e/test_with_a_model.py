"""Pages that need a language model, with a scripted one: a running replay, judgements, and a cached answer."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.looking import faults_at
from tests.e2e.product import OwnProduct, Product, with_models_of
from tests.e2e.replaying import client, launched
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

pytestmark = pytest.mark.browser
ASKS = 6
ABOUT_CATS = "Cats sleep sixteen hours a day."
ANSWER = "Invoices are kept for ten years. Nobody may look at them in the meantime, not even auditors."
OPINIONS = [
    {"number": 1, "verdict": "not_found", "passage": None, "quote": None},
    {"number": 2, "verdict": "contradicted", "passage": 1, "quote": "auditors may look at any time"},
]


@pytest.fixture(scope="module")
def last_answer() -> Event:
    """Set once the last step of a replay may be answered."""
    return Event()


@pytest.fixture(scope="module")
def product(
    used_home: Path, tmp_path_factory: pytest.TempPathFactory, last_answer: Event
) -> Iterator[OwnProduct]:
    """`make up` with a scripted model server."""
    with StubModelServer() as stub:
        stub.script(Script(question="Question: How long", answer=ANSWER))
        stub.script(Script(question="<sentence", answer=json.dumps({"sentences": OPINIONS}), model="gpt-4o"))
        stub.script(Script(question="<sentence", answer="I think it is fine.", model="gpt-4.1"))
        stub.script(Script(question="Question: How long do cats sleep? (0)", answer=ABOUT_CATS))
        stub.script(Script(question=f"Question: How long do cats sleep? ({ASKS - 1})", held=last_answer))
        with with_models_of(stub, used_home, tmp_path_factory.mktemp("with-model")) as running:
            yield running
            last_answer.set()


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    with client(product) as opened:
        yield opened


@pytest.fixture(scope="module")
def judged(product: Product, api: httpx.Client) -> str:
    """A session: three models judged the answer of step 1, and the answer of step 3 is from the cache."""
    text = {"title": "Retention", "text": "Invoices are kept for ten years."}
    api.post("/collections/handbook/put", json=text).raise_for_status()
    started = api.post("/sessions", json={"name": "Geprüft", "collection": "handbook"})
    session: dict[str, Any] = started.json()
    for _ in range(2):
        question = {"question": "How long are invoices kept?", "use_model": "openai:gpt-4o-mini"}
        api.post(f"/sessions/{session['id']}/ask", json=question).raise_for_status()
    for model in ("openai:gpt-4o", "openai:gpt-4o", "openai:gpt-4.1"):
        judgements = f"/sessions/{session['id']}/actions/1/judgements"
        api.post(judgements, json={"model": model}).raise_for_status()
    return f"{product.url}/sessions/{session['id']}"


def test_pages_with_judgements_and_cached_answers_have_no_faults(screen: Page, judged: str) -> None:
    pages = {
        "judged": f"{judged}/?step=1",
        "cached": f"{judged}/?step=3",
        "work-cached": f"{judged}/work/?step=3",
    }
    faults = [fault for name, address in pages.items() for fault in faults_at(screen, name, address)]
    assert faults == []


def test_a_model_can_be_asked_to_judge_an_answer(screen: Page, judged: str) -> None:
    screen.goto(f"{judged}/?step=3")
    screen.get_by_text("Let a model judge this answer").click()
    screen.get_by_label("Judge", exact=True).fill("openai:gpt-4o")
    screen.get_by_role("button", name="Ask judge model").click()
    screen.locator("#judgements .note", has_text="openai:gpt-4o has judged the answer").wait_for()
    expect(screen.get_by_text("quote not found in passage 1").first).to_be_visible()


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    """An ended session of asks."""
    api.post("/collections/facts/put", json={"text": ABOUT_CATS, "title": "Cats"}).raise_for_status()
    made = api.post("/sessions", json={"name": "Cats", "collection": "facts"}).json()["id"]
    for ask in range(ASKS):
        question = {"question": f"How long do cats sleep? ({ask})", "use_model": "local:extractive-1"}
        api.post(f"/sessions/{made}/ask", json=question).raise_for_status()
    api.post(f"/sessions/{made}/end").raise_for_status()
    return str(made)


def test_the_timeline_shows_the_progress_of_a_replay_and_the_verdict_of_each_row(
    ada: Page, product: Product, api: httpx.Client, session: str, last_answer: Event
) -> None:
    replay = launched(api, session)
    steps = api.get(f"/replays/{replay}").json()["steps"]["total"]
    ada.goto(f"{product.url}/replays/{replay}/")
    ada.get_by_role("link", name="On the timeline").click()
    ada.wait_for_url(f"**/?replay={replay}")
    ada.locator("#filter").focus()
    expect(ada.locator(".replays .status")).to_contain_text("Replay running:")
    expect(ada.locator("#s1 .replayed")).to_contain_text("identical")
    expect(ada.locator(f"#s{2 * ASKS - 1} .replayed")).to_contain_text("running")
    expect(ada.locator(".picture path.replay").first).to_be_attached()
    expect(ada.locator("#s3 .replayed")).to_contain_text("≠")
    last_answer.set()
    wait_until(lambda: api.get(f"/replays/{replay}").json()["status"] == "done")
    expect(ada.locator(".replays .status")).to_have_text(f"Replay done: {steps} of {steps} steps")
    expect(ada.locator(f"#s{2 * ASKS - 1} .replayed")).not_to_contain_text("running")
    expect(ada.locator("#live")).to_have_text(f"Replay done: {steps} of {steps} steps")
    expect(ada.locator("#filter")).to_be_focused()
    requested: list[str] = []
    ada.on("request", lambda request: requested.append(request.url))
    ada.wait_for_timeout(2_500)
    assert requested == []
    ada.locator("#s5 > a").first.click()
    ada.wait_for_url(f"**/?step=5&replay={replay}")
    expect(ada.locator("#s5 .replayed")).to_be_visible()
    assert faults_at(ada, "timeline-replayed", ada.url) == []
