"""Asking in a real browser: the answer appears while it is written, the focus stays, and Cancel ends it."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.builders import FACTS
from tests.provider_failures import MODELS, as_vendors
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import chromium_of
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, get_or_create_collection, put_frames
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ANSWER = "Invoices are kept for ten years. Then the archive team shreds them."
WATCH_THE_LIVE_REGION = """() => {
    window.said = [];
    const live = document.getElementById("live");
    new MutationObserver(() => window.said.push(live.textContent)).observe(live, { childList: true });
}"""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as server:
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    collection = get_or_create_collection(project, "handbook", by="test")
    put_frames(collection, [NewFrame(title=title, text=text) for title, text in FACTS], by="test")
    return start_session(project, name="Fragen", key="fragen", by="test", collection=collection)


@pytest.fixture
def page(
    chromium: Browser, live_server: LiveServer, project: Project, session: Session, settings: Settings
) -> Iterator[Page]:
    """The workbench; an error in a script fails the test."""
    settings.ALLOWED_HOSTS = ["localhost"]
    context = chromium_of(project, chromium, live_server)
    found, wrong = context.new_page(), list[str]()
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.goto(f"{live_server.url}/sessions/{session.id}/work/")
    expect(found.get_by_label("Question or query")).to_be_visible()
    yield found
    assert wrong == []
    context.close()


def ask(page: Page, question: str, model: str = MODELS[0]) -> None:
    page.get_by_label("Question or query").fill(question)
    page.locator(".work-form").get_by_label("Model", exact=True).fill(model)
    page.get_by_role("button", name="Record").click()


def test_an_answer_appears_while_it_is_written_and_becomes_its_step(
    page: Page, stub: StubModelServer
) -> None:
    release = threading.Event()
    stub.script(Script(held=release, answer=ANSWER))
    page.evaluate(WATCH_THE_LIVE_REGION)
    ask(page, "How long are invoices kept?")
    writing = page.locator("#writing")
    expect(writing.locator("[data-part=text]")).to_have_text("Invoices")
    expect(writing.get_by_role("button", name="Cancel")).to_be_visible()
    release.set()
    expect(page.locator("#done")).to_contain_text(ANSWER)
    expect(page.locator("#done")).to_contain_text("grounding 1.00")
    expect(writing).to_be_hidden()
    expect(page.get_by_role("button", name="Record")).to_be_focused()
    expect(page.get_by_label("Question or query")).to_have_value("")
    expect(page.locator(".work-steps [aria-current=step]")).to_contain_text("How long are invoices kept?")
    expect(page).to_have_url(re.compile("step=1"))
    announced: list[Any] = page.evaluate("() => window.said")
    assert announced == ["Asking the question.", "The answer is complete, recorded as step 1."]
    page.reload()
    expect(page.locator("#done")).to_contain_text(ANSWER)


def test_a_second_question_and_the_end_of_the_session_wait_for_the_running_ask(
    page: Page, stub: StubModelServer, session: Session
) -> None:
    first, second = threading.Event(), threading.Event()
    stub.script(Script(held=first, answer=ANSWER))
    stub.script(Script(question="And then?", held=second, answer=ANSWER))
    ask(page, "How long are invoices kept?")
    expect(page.locator("#writing [data-part=text]")).to_contain_text("Invoices")
    ask(page, "And then?")
    first.set()
    expect(page.locator("#writing [data-part=question]")).to_have_text("And then?")
    expect(page.locator("#writing [data-part=text]")).to_contain_text("Invoices")
    threading.Timer(0.5, second.set).start()
    page.get_by_role("button", name="End session").click()
    expect(page.locator(".messages")).to_contain_text("ended with 4 steps")
    assert not session.actions.exclude(error_type=None).exists()


@pytest.mark.parametrize("mode", ["slow", "slow_words"])
def test_cancel_ends_an_ask_even_if_its_model_is_silent(page: Page, stub: StubModelServer, mode: Any) -> None:
    stub.script(Script(mode=mode, seconds=10, answer=ANSWER))
    ask(page, "How long are invoices kept?")
    expect(page.locator("#writing [data-part=says]")).to_have_text(
        re.compile("Asking the model|Writing the answer")
    )
    page.locator("#writing").get_by_role("button", name="Cancel").click()
    expect(page.locator("#done")).to_contain_text("was cancelled before it finished")
    expect(page.get_by_label("Question or query")).to_have_value("How long are invoices kept?")
    expect(page.locator("#done")).not_to_contain_text("Grounding")


def test_an_interrupted_answer_is_shown_as_partial(page: Page, stub: StubModelServer) -> None:
    stub.script(Script(mode="error_event", answer=ANSWER))
    ask(page, "How long are invoices kept?", MODELS[1])
    expect(page.locator("#done")).to_contain_text("Overloaded")
    expect(page.locator("#done")).to_contain_text("Partial output (not an answer)")
    expect(page.locator("#done")).to_contain_text("req_stub")


def test_a_refusal_is_shown_in_the_form(page: Page, session: Session) -> None:
    ask(page, "How long are invoices kept?", "nobody:nothing")
    expect(page.locator(".work-form")).to_contain_text("no model provider")
    expect(page.get_by_label("Question or query")).to_be_focused()
    end_session(session.id)
    ask(page, "Another?", "local:extractive-1")
    expect(page.locator(".note").first).to_contain_text("has ended")
