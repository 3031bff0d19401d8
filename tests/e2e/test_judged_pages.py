"""The pages that need a language model, with a scripted one: a step with judgements, and an answer from the cache."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Product
from tests.e2e.looking import look
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer

pytestmark = pytest.mark.browser

ANSWER = "Invoices are kept for ten years. Nobody may look at them in the meantime, not even auditors."
OPINIONS = [
    {"number": 1, "verdict": "not_found", "passage": None, "quote": None},
    {"number": 2, "verdict": "contradicted", "passage": 1, "quote": "auditors may look at any time"},
]


@pytest.fixture(scope="module")
def product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """`make up` with a model server beside it."""
    with StubModelServer() as stub:
        stub.script(Script(question="Question: How long", answer=ANSWER))
        stub.script(Script(question="<sentence", answer=json.dumps({"sentences": OPINIONS}), model="gpt-4o"))
        stub.script(Script(question="<sentence", answer="I think it is fine.", model="gpt-4.1"))
        home = copied(used_home, tmp_path_factory.mktemp("judged") / "home")
        model = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{stub.url}/v1"}
        machine = Machine(home, **model).ready()
        yield Product(machine)
        assert machine.end() == 0


@pytest.fixture(scope="module")
def judged(product: Product) -> str:
    """A session: the answer of step 1 is judged by three models, that of step 3 comes from the cache."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=60) as api:
        text = {"title": "Retention", "text": "Invoices are kept for ten years."}
        api.post("/collections/handbook/put", json=text).raise_for_status()
        started = api.post("/sessions", json={"name": "Geprüft", "collection": "handbook"})
        session: dict[str, Any] = started.json()
        for _ in range(2):
            asked = {"question": "How long are invoices kept?", "use_model": "openai:gpt-4o-mini"}
            api.post(f"/sessions/{session['id']}/ask", json=asked).raise_for_status()
        for model in ("openai:gpt-4o", "openai:gpt-4o", "openai:gpt-4.1"):
            judgements = f"/sessions/{session['id']}/actions/1/judgements"
            api.post(judgements, json={"model": model}).raise_for_status()
    return f"{product.url}/sessions/{session['id']}"


def test_judgements_and_cached_answers_are_sound_pages(screen: Page, judged: str) -> None:
    pages = {
        "judged": f"{judged}/?step=1",
        "cached": f"{judged}/?step=3",
        "work-cached": f"{judged}/work/?step=3",
    }
    faults = [fault for name, address in pages.items() for fault in look(screen, name, address)]
    assert faults == []


def test_a_person_lets_a_model_judge(screen: Page, judged: str) -> None:
    screen.goto(f"{judged}/?step=3")
    screen.get_by_text("Let a model judge this answer").click()
    screen.get_by_label("Or another model").fill("openai:gpt-4o")
    screen.get_by_role("button", name="Ask judge model").click()
    screen.locator("#judgements .note", has_text="openai:gpt-4o has judged the answer").wait_for()
    expect(screen.get_by_text("quote not found in passage 1").first).to_be_visible()
