"""Requesting a judgement in a real browser: the page shows it at once, and Cancel stops it there."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.replay.judging.opinions import ASK, MODEL, opinion
from tests.stub_model_server import Script, StubModelServer
from tests.web.conftest import chromium  # noqa: F401  # a fixture
from tests.web.people import chromium_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.judging.models import Judgement

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(
    chromium: Browser,  # noqa: F811
    live_server: LiveServer,
    session: Session,
    settings: Settings,
) -> Iterator[Page]:
    """The step with the judge form filled in; no error may occur on the page."""
    settings.ALLOWED_HOSTS = ["localhost"]
    context = chromium_of(session.project, chromium, live_server)
    found, wrong = context.new_page(), list[str]()
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.goto(f"{live_server.url}/sessions/{session.id}/?step={ASK}")
    found.get_by_text("Let a model judge this answer").click()
    found.get_by_label("Judge", exact=True).fill(MODEL)
    yield found
    assert wrong == []
    context.close()


def test_the_requesting_tab_shows_the_running_judgement_at_once_and_cancels_it(
    page: Page, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", mode="silent", seconds=20))
    page.get_by_role("button", name="Ask judge model").click()
    judging = page.locator("#judging")
    expect(judging).to_contain_text("Asking the judge model…")
    expect(page.get_by_role("button", name="Ask judge model")).to_be_hidden()
    judging.get_by_role("button", name="Cancel").click()
    expect(page.locator("#judgements .note.bad")).to_contain_text(
        f"Step {ASK} of {session.name} was not judged by {MODEL}: The call to"
    )
    expect(judging).to_be_hidden()
    assert Judgement.objects.get().error_type == "cancelled"


def test_a_click_on_a_sentence_shows_its_passage(page: Page) -> None:
    sentence = page.locator(".sentence.supported").first
    number = sentence.get_attribute("data-number")
    sentence.click()
    expect(page).to_have_url(re.compile(f"#rests-{number}$"))
    marked = page.locator(f"#rests-{number}")
    top, height = marked.evaluate("e => [e.getBoundingClientRect().top, innerHeight]")
    head = page.locator(".masthead").evaluate("e => e.getBoundingClientRect().bottom")
    assert head < top < height


def test_the_judgement_replaces_the_waiting_message(page: Page, ask: Action, stub: StubModelServer) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    page.get_by_role("button", name="Ask judge model").click()
    expect(page.locator("#judgements .note")).to_contain_text("has judged the answer; it cost")
    expect(page.locator("#judgements .opinions > li")).to_have_count(3)
    page.reload()
    expect(page.locator("#judgements .note")).to_have_count(0)
